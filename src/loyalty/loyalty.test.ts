// Points: whatever happens to a payment and however events arrive, the balance is the points of what was paid and kept.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { append } from '#outbox/append.ts'
import type { EventName } from '#outbox/event.ts'
import { HOLD_MS, testSale } from '#test/sale/test-sale.ts'
import { cancel } from '#test/sale/what-happened.ts'
import { keepLedger } from './keep-ledger.ts'
import { pointsOf } from './points.ts'

test('points are whole units of the currency, rounded down, by its own digits', () => {
  for (const [paidMinor, currency, perUnit, points] of [
    [2450, 'EUR', 1, 24],
    [99, 'EUR', 1, 0],
    [99, 'EUR', 3, 2],
    [1500, 'JPY', 1, 1500],
    [1999, 'KWD', 1, 1],
    [1999, 'KWD', 10, 19],
    [0, 'EUR', 5, 0],
    [-100, 'EUR', 5, 0],
    [Number.MAX_SAFE_INTEGER, 'JPY', 1, Number.MAX_SAFE_INTEGER],
  ] as const)
    assert.equal(pointsOf(paidMinor, currency, perUnit), points)
  assert.throws(() => pointsOf(1, 'XXZ', 1), RangeError)
})

test('given when the money is taken, taken back with each refund, shown to their owner only, page by page', async (t) => {
  const sale = await testSale(t)
  const { hold, bookingId } = await sale.buy(['F7', 'F8'], { pricesMinor: [1250, 1175] })
  const { authorization } = sale.customer(hold.customerId)
  const read = async (query = '', headers: Record<string, string> = { authorization }) =>
    (await sale.app.inject({ url: `/v1/customers/me/loyalty${query}`, headers })).json()
  assert.equal((await read()).balance, 24)
  await cancel(sale, bookingId, ['F8'])
  await sale.work()
  assert.equal((await read()).balance, 12)
  await cancel(sale, bookingId)
  await sale.work()
  const first = await read('?limit=2')
  const second = await read(`?limit=2&cursor=${first.nextCursor}`)
  const entries = [...first.items, ...second.items].map(({ reason, points }: Record<string, unknown>) => [
    reason,
    points,
  ])
  assert.deepEqual(entries, [
    ['REFUNDED', -12],
    ['REFUNDED', -12],
    ['PAID', 24],
  ])
  assert.deepEqual([first.balance, second.nextCursor], [0, null])
  const stranger = await read('', { authorization: sale.customer().authorization })
  assert.deepEqual([stranger.balance, stranger.items], [0, []])
  assert.equal((await read('', {})).code, 'UNAUTHENTICATED')
})

test('money that came too late and went back gives nothing and takes nothing', async (t) => {
  const sale = await testSale(t)
  const late = await sale.checkOut(await sale.hold(['F8']))
  await sale.pay(late, { callbackAfterMs: HOLD_MS + 60_000, fault: 'captured' })
  await sale.db.shiftClock(HOLD_MS + 61_000)
  await sale.work()
  assert.deepEqual([...(await sale.sql`select points from loyalty_entries`)], [])
})

// What a payment can go through, one change of our books and one event each.
type Step = { refundShare: number }
const steps = fc.array(fc.record({ refundShare: fc.integer({ min: 0, max: 100 }) }), { maxLength: 4 })

test('events twice, late, in any order and at once: the balance is points(paid - refunded), never below zero on the way', async (t) => {
  const sale = await testSale(t)
  const { bookingId, hold } = await sale.buy(['F7'])
  const seed = Number(process.env.HOLDFAST_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`seed ${seed}`)
  const { sql, inventoryId } = sale
  const balance = async () => {
    const [row] = await sql<{ points: number; lowest: number }[]>`
      select coalesce(sum(points), 0)::bigint as points, coalesce(min(running), 0)::bigint as lowest
      from (select points, sum(points) over (order by created_at, event_id) as running from loyalty_entries
        where customer_id = ${hold.customerId}) e`
    return row ?? { points: 0, lowest: 0 }
  }
  const event = async (name: EventName) => ({
    ...{ inventoryId, bookingId, name },
    id: await sql.begin((tx) => append(tx, { inventoryId, bookingId, name, payload: {} })),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 50_000 }),
      steps,
      fc.infiniteStream(fc.nat()),
      async (paidMinor: number, refunds: Step[], random) => {
        await sql`delete from loyalty_entries`
        await sql`update payments set status = 'CAPTURED', refunded_minor = 0, captured_minor = amount_minor`
        await sql`update payments set refunded_minor = 0, captured_minor = 0`
        await sql`update payments set amount_minor = ${paidMinor}, captured_minor = ${paidMinor} where pays`
        const events = [await event('BookingConfirmed'), await event('PaymentCaptured')]
        const deliver = async (share: number) => {
          // Some of what there is, in any order, some of it twice, two at once.
          const chosen = events.filter(() => random.next().value % 100 < share)
          const shuffled = [...chosen, ...chosen.slice(0, 2)].toSorted(() => (random.next().value % 2 ? 1 : -1))
          await Promise.all(shuffled.map((one) => keepLedger(sql, one, 1)))
        }
        let refundedMinor = 0
        for (const { refundShare } of refunds) {
          await deliver(50)
          refundedMinor += Math.floor(((paidMinor - refundedMinor) * refundShare) / 100)
          await sql`update payments set refunded_minor = ${refundedMinor} where pays`
          events.push(await event('PaymentRefunded'))
        }
        await deliver(100)
        const end = await balance()
        assert.equal(end.points, pointsOf(paidMinor - refundedMinor, 'EUR', 1))
        assert.ok(end.lowest >= 0, 'more was taken back than given')
        await deliver(100)
        assert.equal((await balance()).points, end.points)
      },
    ),
    { seed, numRuns: process.env.HOLDFAST_TEST_LONG ? 500 : 60 },
  )
})

test('without the lock two deliveries at once give the points twice: the control', async (t) => {
  const sale = await testSale(t)
  const { bookingId } = await sale.buy(['F7'])
  const { sql, inventoryId } = sale
  const rounds = 20
  const race = async (deliver: typeof sql) => {
    let wrong = 0
    for (let round = 0; round < rounds; round++) {
      await sql`delete from loyalty_entries`
      const events = Array.from({ length: 4 }, () => ({
        inventoryId,
        bookingId,
        name: 'PaymentCaptured' as const,
        id: randomUUID(),
      }))
      await Promise.all(events.map((one) => keepLedger(deliver, one, 1)))
      const [row] = await sql<{ points: number }[]>`select sum(points)::bigint as points from loyalty_entries`
      if (row?.points !== 12) wrong += 1
    }
    return wrong
  }
  assert.equal(await race(sql), 0)
  // The same code on a database whose inventories cannot be locked by it: the row it asks for is not there.
  const unlocked = Object.assign(Object.create(sql), {
    begin: (work: Parameters<typeof sql.begin>[1]) =>
      sql.begin(async (tx) => {
        await tx`set local search_path = unlocked, public`
        return work(tx)
      }),
  })
  await sql`create schema unlocked`
  await sql`create table unlocked.inventories (id bigint)`
  assert.ok((await race(unlocked)) > 0, 'it did not need the lock')
})
