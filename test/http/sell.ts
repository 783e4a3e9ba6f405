// Sells seats as a buyer does: hold, check out, pay at the sandbox; the workers of the process do the rest.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SmallHouse } from '#test/cinema/small-house.ts'
import { runAllWorkers } from '../../src/all-workers.ts'

export type Sold = { holdId: string; holdToken: string; bookingId: string; ticketId: string; paymentUrl: string }

const PATIENCE_MS = 10_000

/** The server listens from now on, for the sandbox's messages, and all workers run until the test ends. */
export async function runSale(t: TestContext, house: SmallHouse): Promise<void> {
  const { app, db, parts } = house
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const workers = runAllWorkers(db.connect(4), parts, `http://127.0.0.1:${port}/v1/payments/callback`)
  t.after(() => workers.stop())
}

/** Up to the payment page; `Sold` with an empty ticket. */
export async function checkOut(house: SmallHouse, show: string, seats: string[], authorization: string): Promise<Sold> {
  const placed = await house.post(`/v1/showtimes/${show}/holds`, { seats }, { authorization })
  assert.equal(placed.status, 201, placed.text)
  const { holdId, holdToken } = placed.body
  const headers = { authorization, 'idempotency-key': `checkout-${holdId}` }
  const opened = await house.post(
    `/v1/holds/${holdId}/checkout`,
    { email: 'buyer@example.com', name: 'A. Buyer' },
    headers,
  )
  assert.equal(opened.status, 201, opened.text)
  return { holdId, holdToken, bookingId: opened.body.bookingId, paymentUrl: opened.body.paymentUrl, ticketId: '' }
}

export async function sell(house: SmallHouse, show: string, seats: string[], authorization: string): Promise<Sold> {
  const order = await checkOut(house, show, seats, authorization)
  const paid = await house.post(`${new URL(order.paymentUrl).pathname}/pay`, {})
  assert.equal(paid.status, 200, paid.text)
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(25)) {
    const { body } = await house.get(`/v1/bookings/${order.bookingId}/tickets`, { authorization })
    if (body.items.length === seats.length) return { ...order, ticketId: body.items[0].id }
    assert.ok(performance.now() < until, 'no ticket came')
  }
}
