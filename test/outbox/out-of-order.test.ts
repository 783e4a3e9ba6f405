// alone: trap 21 at full size. Eight writers whose transactions commit in any order, two relays at once: no event is missed; a cursor over numbers misses many.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { append } from '#outbox/append.ts'
import { relayTo } from '#outbox/relay.ts'
import { bookings, firstDeliveries, INVENTORY, memorySink } from '#test/outbox/outbox-ground.ts'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'

const WRITERS = 8
// The size of the fault that was measured (M6) in long runs; CI sees the same in less.
const EVENTS = process.env.HOLDFAST_TEST_LONG ? 22_400 : 6_400
const A_TRANSACTION = 10

/** How a relay would do it that remembers the last number it saw. */
async function cursorRelay(db: TestDatabase, seen: Set<string>, last: { n: number }): Promise<void> {
  const rows = await db.sql<
    { n: number; id: string }[]
  >`select n, id from outbox where n > ${last.n} order by n limit 500`
  for (const { n, id } of rows) {
    seen.add(id)
    last.n = n
  }
}

test(`${EVENTS} events by ${WRITERS} writers that commit out of order: none is lost; the control with a cursor loses some`, async (t) => {
  const db = await freshDatabase(t)
  // Numbers for the control only: the product has none that could tempt anybody.
  await db.sql`alter table outbox add column n bigint generated always as identity`
  const ids = await bookings(db.sql, WRITERS * 25)
  const writers = db.connect(WRITERS)
  const { sink, got } = memorySink()
  let writing = true
  const relaying = [1, 2].map(async () => {
    const pool = db.connect(2)
    while (writing) {
      await relayTo(pool, sink)
      await sleep(10)
    }
  })
  const byCursor = new Set<string>()
  const last = { n: 0 }
  const control = (async () => {
    while (writing) {
      await cursorRelay(db, byCursor, last)
      await sleep(5)
    }
  })()

  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      // Each has bookings of its own, as each sale holds its own inventory's lock.
      const mine = ids.slice(writer * 25, (writer + 1) * 25)
      for (let at = 0; at < EVENTS / WRITERS / A_TRANSACTION; at++)
        await writers.begin(async (tx) => {
          for (let one = 0; one < A_TRANSACTION; one++) {
            const bookingId = mine[(at + one) % mine.length] ?? ''
            await append(tx, { inventoryId: INVENTORY, bookingId, name: 'BookingPending', payload: {} })
          }
          if (Math.random() < 0.3) await sleep(Math.random() * 20)
        })
    }),
  )
  writing = false
  await Promise.all([...relaying, control])
  await relayTo(db.sql, sink)
  for (let before = -1; before < last.n; ) {
    before = last.n
    await cursorRelay(db, byCursor, last)
  }

  const [count] = await db.sql`
    select count(*)::int as written, count(*) filter (where published_at is null)::int as unsent from outbox`
  assert.deepEqual({ ...count }, { written: EVENTS, unsent: 0 })
  assert.equal(new Set(got.map(({ id }) => id)).size, EVENTS)
  for (const ofBooking of Map.groupBy(got, ({ bookingId }) => bookingId).values()) {
    const numbers = firstDeliveries(ofBooking.map(({ seq }) => seq))
    assert.deepEqual(
      numbers,
      [...numbers.keys()].map((at) => at + 1),
    )
  }
  assert.ok(byCursor.size < EVENTS, 'the control did not fail: commits were not out of order')
  t.diagnostic(`the relay missed 0 of ${EVENTS}; a cursor would have missed ${EVENTS - byCursor.size}`)
})
