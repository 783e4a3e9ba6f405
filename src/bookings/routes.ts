// Reading bookings: one, one's own, what its cancellation would give back, its tickets; and the search of staff. Changing them is the payments' door.
import Type from 'typebox'
import { type App, closed, IdParam, PAGE_SIZE, Page, PageQuery, problems } from '#core/http.ts'
import type { Sql } from '#database/connect.ts'
import { requireCustomer, requireRole } from '#identity/caller.ts'
import { readTickets } from '#tickets/read-tickets.ts'
import type { Booking as BookingRow } from './booking.ts'
import { listBookings } from './list-bookings.ts'
import { type CancellationQuote as Quote, quoteCancellation } from './quote-cancellation.ts'
import { findOwnBooking, readBooking } from './read-booking.ts'
import { BOOKING_STATUSES, Booking, BookingSummary, CancellationQuote, StaffBookingSummary, Ticket } from './schemas.ts'

const tags = ['Bookings']

export function bookingRoutes(app: App, { sql }: { sql: Sql }): void {
  app.get(
    '/v1/bookings',
    {
      schema: {
        operationId: 'listBookings',
        summary: 'One’s own bookings, newest first',
        tags,
        querystring: closed(PageQuery),
        response: { 200: Page(BookingSummary), ...problems('UNAUTHENTICATED') },
      },
    },
    async (request) => {
      const customerId = requireCustomer(request)
      const { limit = PAGE_SIZE, cursor } = request.query
      return listBookings(sql, { customerId, limit, ...(cursor === undefined ? {} : { cursor }) })
    },
  )

  app.get(
    '/v1/bookings/:id',
    {
      schema: {
        operationId: 'getBooking',
        summary: 'A booking with its lines, payments, refunds and tickets',
        tags,
        params: IdParam,
        response: { 200: Booking, ...problems('NOT_FOUND') },
      },
    },
    async (request) => readBooking(sql, await findOwnBooking(sql, request.params.id, request)),
  )

  app.get(
    '/v1/bookings/:id/tickets',
    {
      schema: {
        operationId: 'listTickets',
        summary: 'The tickets of a booking',
        description: 'Their QRs are at `/v1/tickets/{id}/qr.svg` and `/v1/tickets/{id}/qr.png`.',
        tags,
        params: IdParam,
        response: { 200: Page(Ticket), ...problems('NOT_FOUND') },
      },
    },
    async (request) => {
      const { inventoryId, id } = await findOwnBooking(sql, request.params.id, request)
      return { items: await readTickets(sql, inventoryId, id), nextCursor: null }
    },
  )

  app.get(
    '/v1/bookings/:id/cancellation',
    {
      schema: {
        operationId: 'quoteCancellation',
        summary: 'What cancelling would give back now',
        tags,
        params: IdParam,
        response: { 200: CancellationQuote, ...problems('NOT_FOUND', 'NOT_CANCELLABLE') },
      },
    },
    async (request) => {
      const booking = await findOwnBooking(sql, request.params.id, request)
      const [clock] = await sql<{ now: string }[]>`select holdfast_now() as now`
      return describeQuote(booking, await quoteCancellation(sql, booking, clock?.now ?? ''))
    },
  )

  app.get(
    '/v1/admin/bookings',
    {
      schema: {
        operationId: 'searchBookings',
        summary: 'Find bookings by reference, e-mail address or name',
        tags: ['Admin'],
        querystring: closed({
          ...PageQuery,
          q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
          status: Type.Optional(Type.Enum([...BOOKING_STATUSES])),
        }),
        response: { 200: Page(StaffBookingSummary), ...problems('UNAUTHENTICATED', 'FORBIDDEN') },
      },
    },
    async (request) => {
      requireRole(request, 'admin', 'box_office')
      return listBookings(sql, { ...request.query, limit: request.query.limit ?? PAGE_SIZE })
    },
  )
}

function describeQuote({ currency }: BookingRow, { rule, validUntil, lines, refundsMinor, vouchersMinor }: Quote) {
  const whole = (shares: number[]) => ({ amount: shares.reduce((sum, share) => sum + share, 0), currency })
  return {
    refund: whole(refundsMinor),
    ...(vouchersMinor.some((share) => share > 0) ? { voucher: whole(vouchersMinor) } : {}),
    rule,
    validUntil,
    lines: lines.flatMap(({ status, lineNo, seatCode }, index) =>
      status === 'ACTIVE'
        ? [{ line: lineNo, seat: seatCode, refund: { amount: refundsMinor[index] ?? 0, currency } }]
        : [],
    ),
  }
}
