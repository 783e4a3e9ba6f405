// A customer's own points.
import Type from 'typebox'
import { type App, closed, PAGE_SIZE, Page, PageQuery, problems, Time } from '#core/http.ts'
import type { Sql } from '#database/connect.ts'
import { requireCustomer } from '#identity/caller.ts'
import { listEntries } from './list-entries.ts'

const Entry = Type.Object({
  id: Type.String(),
  bookingId: Type.String(),
  reference: Type.String(),
  reason: Type.Enum(['PAID', 'REFUNDED']),
  points: Type.Integer({ description: 'Below zero: taken back.' }),
  createdAt: Time,
})

export function loyaltyRoutes(app: App, { sql }: { sql: Sql }): void {
  app.get(
    '/v1/customers/me/loyalty',
    {
      schema: {
        operationId: 'getLoyalty',
        summary: 'One’s own points and what they come from, newest first',
        description: 'Points come about a second after the money was taken, and go with what is refunded.',
        tags: ['Bookings'],
        querystring: closed(PageQuery),
        response: {
          200: Type.Object({
            balance: Type.Integer({ description: 'The sum of all entries.' }),
            ...Page(Entry).properties,
          }),
          ...problems('UNAUTHENTICATED'),
        },
      },
    },
    async (request) => {
      const customerId = requireCustomer(request)
      const { limit = PAGE_SIZE, cursor } = request.query
      return listEntries(sql, { customerId, limit, ...(cursor === undefined ? {} : { cursor }) })
    },
  )
}
