// A booking's tickets to print and to put into a calendar, for their owner.
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { type App, IdParam, problems } from '#core/http.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { noteCalendar } from './calendar-state.ts'
import type { TicketPrinter } from './ticket-printer.ts'
import { findOwnSheet } from './ticket-sheet.ts'
import { writeCalendar } from './write-calendar.ts'

export function ticketFileRoutes(app: App, { sql, printer }: { sql: Sql; printer: TicketPrinter }): void {
  const file = (description: string, type: string) => ({
    200: { description, content: { [type]: { schema: Type.Unsafe<string | Buffer>(Type.String()) } } },
  })

  app.get(
    '/v1/bookings/:id/tickets.pdf',
    {
      schema: {
        operationId: 'getTicketsPdf',
        summary: 'The valid tickets of a booking as PDF, a page each',
        tags: ['Bookings'],
        params: IdParam,
        response: {
          ...file('The tickets', 'application/pdf'),
          ...problems('NOT_FOUND', 'NO_TICKETS', 'OVERLOADED'),
        },
      },
    },
    async (request, reply) => {
      const sheet = await findOwnSheet(sql, request.params.id, request)
      if (sheet.tickets.length === 0) throw new Problem('NO_TICKETS')
      const pdf = await printer.print(sheet)
      return asFile(reply, `tickets-${sheet.reference}.pdf`, 'application/pdf').send(pdf)
    },
  )

  app.get(
    '/v1/bookings/:id/tickets.ics',
    {
      schema: {
        operationId: 'getTicketsCalendar',
        summary: 'A booking as a calendar entry',
        description:
          'iCalendar (RFC 5545), on the clock of the venue. After a change it is the same entry with a higher SEQUENCE, after the cancellation with METHOD:CANCEL.',
        tags: ['Bookings'],
        params: IdParam,
        response: { ...file('The entry', 'text/calendar'), ...problems('NOT_FOUND', 'NO_TICKETS') },
      },
    },
    async (request, reply) => {
      const sheet = await findOwnSheet(sql, request.params.id, request)
      if (!sheet.wasConfirmed) throw new Problem('NO_TICKETS')
      const calendar = writeCalendar(sheet, await noteCalendar(sql, sheet))
      return asFile(reply, `tickets-${sheet.reference}.ics`, 'text/calendar; charset=utf-8')
        .serializer(String)
        .send(calendar)
    },
  )
}

// The name is of our own letters only, whatever the title of the film.
function asFile(reply: FastifyReply, name: string, type: string): FastifyReply {
  return reply
    .type(type)
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${name}"`)
}
