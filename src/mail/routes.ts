// Asking for a booking's tickets by mail once more, and the mailbox page where there is one.
import Type from 'typebox'
import { findOwnBooking } from '#bookings/read-booking.ts'
import { type App, IdParam, problems } from '#core/http.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { carriedBy, type MailConfig } from './mail.ts'
import { mailboxRoutes } from './mailbox-routes.ts'
import { resendTickets } from './resend-tickets.ts'

type Parts = { sql: Sql; config: MailConfig; wake: (worker: string) => void }

export function mailRoutes(app: App, { sql, config, wake }: Parts): void {
  const carrier = carriedBy(config)
  if (carrier === 'MAILBOX') mailboxRoutes(app, sql)

  app.post(
    '/v1/bookings/:id/mail',
    {
      schema: {
        operationId: 'mailTickets',
        summary: 'Mail the tickets of a booking once more',
        description: 'To the address given at the checkout, and to no other. Three times an hour.',
        tags: ['Bookings'],
        params: IdParam,
        response: {
          202: Type.Object({ id: Type.String(), status: Type.Literal('DUE') }),
          ...problems('NOT_FOUND', 'NO_TICKETS', 'NO_ADDRESS', 'MAIL_OFF', 'TOO_MANY_ATTEMPTS'),
        },
      },
    },
    async (request, reply) => {
      const { inventoryId, id: bookingId } = await findOwnBooking(sql, request.params.id, request)
      if (carrier === 'NOBODY') throw new Problem('MAIL_OFF')
      const mail = await resendTickets(sql, { inventoryId, bookingId })
      wake('mail')
      return reply.code(202).send(mail)
    },
  )
}
