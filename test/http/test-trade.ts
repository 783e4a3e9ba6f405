// A trade of the test's own, ten seats at 100 each: holds through the door without a cinema.
import type { TestContext } from 'node:test'
import Type from 'typebox'
import type { Parts } from '#app.ts'
import { type App, closed } from '#core/http.ts'
import { type PlacedHold, placeHold } from '#holds/place-hold.ts'
import { isStaff, requireCustomer } from '#identity/caller.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { createLimits } from '#limits/create-limits.ts'
import { testApp } from './test-app.ts'

export const TTL_MS = 600_000
export const SEATS = ['F5', 'F6', 'F7', 'F8', 'F9', 'F10', 'F11', 'F12', 'G1', 'G2']

function tradeRoutes(app: App, parts: Parts): void {
  const limits = createLimits(parts)
  app.post(
    '/hold/:inventory',
    { schema: { body: closed({ seats: Type.Array(Type.String()) }) } },
    async (request, reply) => {
      const customerId = requireCustomer(request)
      const seats = (request.body as { seats: string[] }).seats
      const inventoryId = Number((request.params as { inventory: string }).inventory)
      await limits.attemptHold(request, reply, { customerId, inventoryId, seats })
      return placeHold(parts, {
        inventoryId,
        customerId,
        seats,
        quote: {
          currency: 'INR',
          totalMinor: 100 * seats.length,
          lines: seats.map((seat) => ({
            seat,
            quantity: 1,
            category: 'CLASSIC',
            amountMinor: 100,
            parts: [{ label: 'Classic', amountMinor: 100 }],
          })),
        },
        unitsMax: isStaff(request.caller) ? null : parts.config.seatsPerCustomerMax,
      })
    },
  )
}

export type Headers = { authorization: string }
export type Reply = {
  statusCode: number
  json: () => PlacedHold & { code: string; seats: unknown; status: string } & Record<string, unknown>
}

export async function testTrade(t: TestContext, env: Record<string, string> = {}, changes: Partial<Parts> = {}) {
  const server = await testApp(t, env, changes, tradeRoutes)
  const store = postgresStore(server.db.sql)
  const inventoryId = await store.open({ seats: SEATS })
  const { app } = server
  return {
    ...server,
    store,
    inventoryId,
    hold: (who: Headers, seats: string[], id = inventoryId): Promise<Reply> =>
      app.inject({
        method: 'POST',
        url: `/hold/${id}`,
        payload: { seats },
        headers: { authorization: who.authorization },
      }),
    read: (headers: Record<string, string>, holdId: string): Promise<Reply> =>
      app.inject({ url: `/v1/holds/${holdId}`, headers }),
    extend: (headers: Record<string, string>, holdId: string): Promise<Reply> =>
      app.inject({ method: 'POST', url: `/v1/holds/${holdId}/extend`, headers }),
    free: async () => (await store.read(inventoryId))?.seats.filter(({ status }) => status === 'AVAILABLE').length,
  }
}

export const auth = ({ authorization }: Headers) => ({ authorization })
export const facts = (reply: Reply) => [reply.statusCode, reply.json().code]
