// From a hold to a booking and back: checking out, giving up, cancelling.
import Type from 'typebox'
import { findOwnBooking } from '#bookings/read-booking.ts'
import { RefundRule } from '#bookings/schemas.ts'
import type { Config } from '#config.ts'
import { type App, closed, IdParam, Money, problems } from '#core/http.ts'
import { Problem } from '#core/problem.ts'
import type { Gate } from '#gate/gate.ts'
import { findHold } from '#holds/read-hold.ts'
import { withIdempotency } from '#idempotency/with-idempotency.ts'
import { isStaff } from '#identity/caller.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import type { Limits } from '#limits/create-limits.ts'
import { requireAdmission } from '#waiting-room/require-admission.ts'
import type { WaitingRooms } from '#waiting-room/waiting-rooms.ts'
import { abandonHold } from './abandon-hold.ts'
import { callbackRoutes } from './callback-routes.ts'
import { type Cancellation, cancelBooking } from './cancel-booking.ts'
import { quoteRoute } from './quote-route.ts'
import { type CheckoutParts, startCheckout } from './start-checkout.ts'

const Nothing = Type.Null()
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Nothing])

const CheckoutBody = closed({
  email: Type.Optional(Type.String({ maxLength: 254, pattern: '^[^@\\s]+@[^@\\s]+$' })),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  promoCode: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  voucherCode: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'A gift voucher; the rest is paid as usual.' }),
  ),
  method: Type.Optional(
    Type.String({ maxLength: 32, description: 'How to pay: the name of a provider, `sandbox`; staff also `cash`.' }),
  ),
})

const CheckoutReply = Type.Object({
  bookingId: Type.String(),
  reference: Type.String({ description: 'Six characters to read out.' }),
  status: Type.Enum(['PENDING', 'CONFIRMED'], { description: 'CONFIRMED at once when there is nothing to pay.' }),
  paymentId: Type.String(),
  amount: Money,
  paymentUrl: nullable(Type.String({ description: 'Where to pay. Whoever has it can pay.' })),
  payBy: Type.String({ format: 'date-time', description: 'The end of the payment page.' }),
  expiresAt: Type.String({ format: 'date-time', description: 'The end of the hold.' }),
})

const CancelBody = closed({
  lines: Type.Array(Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1, maxLength: 32 })]), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Numbers of lines, or their seats.',
  }),
})

export function paymentRoutes(
  app: App,
  parts: CheckoutParts & {
    config: Config
    waitingRooms: WaitingRooms
    limits: Limits
    gate: Gate
    boards: Pick<SeatBoards, 'changed'>
  },
): void {
  const { sql, config, waitingRooms, limits } = parts

  app.post(
    '/v1/holds/:id/checkout',
    {
      schema: {
        operationId: 'checkOut',
        summary: 'Turn a hold into a booking that can be paid',
        description:
          'The hold is kept, once, until a payment page and a reserve behind it fit. A repeat answers the payment that is open; after a declined one a new one, within the same hold. No amount is sent: the quote of the hold is what it costs, less what a promo code takes off and a gift voucher pays; `POST …/quote` shows it beforehand.',
        tags: ['Payments'],
        params: IdParam,
        headers: Type.Object({
          'idempotency-key': Type.Optional(Type.String()),
          'holdfast-admission': Type.Optional(Type.String({ maxLength: 300 })),
          'sandbox-faults': Type.Optional(
            Type.String({ maxLength: 500, description: 'Development only: what is to go wrong, with commas between.' }),
          ),
        }),
        body: nullable(CheckoutBody),
        response: {
          201: CheckoutReply,
          ...problems(
            'NOT_FOUND',
            'HOLD_EXPIRED',
            'HOLD_RELEASED',
            'ALREADY_BOOKED',
            'PROMO_CODE_INVALID',
            'PROMO_CODE_USED_UP',
            'VOUCHER_INVALID',
            'VOUCHER_EMPTY',
            'ADMISSION_REQUIRED',
            'WAITING_ROOM_UNAVAILABLE',
            'INVALID_REQUEST',
            'IDEMPOTENCY_KEY_REQUIRED',
            'IDEMPOTENCY_KEY_INVALID',
            'IDEMPOTENCY_KEY_REUSED',
            'IDEMPOTENCY_IN_PROGRESS',
            'PAYMENT_PROVIDER_UNAVAILABLE',
          ),
        },
      },
    },
    async (request, reply) => {
      const { inventoryId, holdId, customerId } = await findHold(sql, request.params.id, request)
      const { method, promoCode, voucherCode, ...contact } = request.body ?? {}
      const wishes = { ...(promoCode ? { promoCode } : {}), ...(voucherCode ? { voucherCode } : {}) }
      const paying = { holdId, keepMs: config.paymentSessionTtlMs + config.paymentBufferMs }
      const admission = await requireAdmission(waitingRooms, request, { inventoryId, customerId, paying })
      const byStaff = isStaff(request.caller)
      const faults = readFaults(request.headers['sandbox-faults'], config)
      const order = { inventoryId, holdId, contact, wishes, admission, byStaff, faults, ...(method ? { method } : {}) }
      return withIdempotency(request, reply, { sql, inventoryId, door: 'checkout', required: true }, async () => ({
        status: 201,
        body: await startCheckout(parts, order),
      }))
    },
  )

  quoteRoute(app, parts)

  app.delete(
    '/v1/holds/:id',
    {
      schema: {
        operationId: 'releaseHold',
        summary: 'Give a hold back',
        description:
          'Also one that is being paid: the booking is cancelled, the payment page ends, late money goes back.',
        tags: ['Holds'],
        params: IdParam,
        response: {
          204: { description: 'Its seats are free; also when it was over already.' },
          ...problems('NOT_FOUND', 'ALREADY_BOOKED'),
        },
      },
    },
    async (request, reply) => {
      const hold = await findHold(sql, request.params.id, request)
      await abandonHold(parts, hold)
      parts.boards.changed(hold.inventoryId)
      if (hold.status === 'HELD' || hold.status === 'CHECKED_OUT') limits.letGo(request, hold)
      return reply.code(204).send()
    },
  )

  app.delete(
    '/v1/bookings/:id',
    {
      schema: {
        operationId: 'cancelBooking',
        summary: 'Cancel a booking, or some of its lines',
        description:
          'The seats are on sale again at once; the refund follows in moments. `GET …/cancellation` says beforehand what comes back.',
        tags: ['Bookings'],
        params: IdParam,
        headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String()) }),
        body: nullable(CancelBody),
        response: {
          200: Type.Object({
            id: Type.String(),
            status: Type.Enum(['CONFIRMED', 'CANCELLED'], { description: 'CONFIRMED while lines are left.' }),
            refund: Money,
            voucher: Type.Optional(Money),
            rule: nullable(RefundRule),
          }),
          ...problems(
            'NOT_FOUND',
            'NOT_CANCELLABLE',
            'INVALID_REQUEST',
            'IDEMPOTENCY_KEY_REUSED',
            'IDEMPOTENCY_IN_PROGRESS',
          ),
        },
      },
    },
    async (request, reply) => {
      const { inventoryId, id } = await findOwnBooking(sql, request.params.id, request)
      const chosen = request.body?.lines ?? null
      return withIdempotency(request, reply, { sql, inventoryId, door: 'cancel', required: false }, async () => {
        const cancellation = await cancelBooking(parts, { inventoryId, bookingId: id }, chosen)
        parts.boards.changed(inventoryId)
        return { status: 200, body: describe(request.params.id, cancellation) }
      })
    },
  )

  callbackRoutes(app, parts)
  for (const provider of parts.providers) provider.routes?.(app)
}

// For tests and demonstrations, one payment at a time; where real money is taken nobody may play with it.
function readFaults(header: string | undefined, config: { holdfastMode: string }): string[] {
  if (header === undefined) return []
  if (config.holdfastMode !== 'development') {
    throw new Problem('INVALID_REQUEST', { errors: [{ path: '/sandbox-faults', message: 'is for development only' }] })
  }
  return header.split(',').map((fault) => fault.trim())
}

function describe(id: string, { status, refundMinor, voucherMinor = 0, currency, rule }: Cancellation) {
  const voucher = voucherMinor > 0 ? { voucher: { amount: voucherMinor, currency } } : {}
  return { id, status, refund: { amount: refundMinor, currency }, ...voucher, rule }
}
