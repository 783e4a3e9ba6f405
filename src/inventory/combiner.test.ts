// The combiner on a real database: arrival order, neighbours, refusals from the picture, limits, and what happens when the database does not answer.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Problem } from '#core/problem.ts'
import { freshDatabase } from '#test/support/database.ts'
import { createCombiner } from './combiner.ts'
import { postgresStore } from './postgres-store.ts'
import { readPicture } from './read-picture.ts'
import type { PlaceOutcome, PlaceRequest, SeatStore } from './seat-store.ts'

const ROW = ['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7', 'F8']

function wish(inventoryId: number, seats: string[], more: Partial<PlaceRequest> = {}): PlaceRequest {
  return {
    inventoryId,
    holdId: randomUUID(),
    customerId: randomUUID(),
    tokenHash: '00'.repeat(32),
    ttlMs: 600_000,
    lifeMs: 1_800_000,
    seats,
    amountMinor: 1_200,
    currency: 'EUR',
    quote: null,
    ...more,
  }
}

function namesOf(outcome: PlaceOutcome): string {
  return outcome.outcome === 'UNAVAILABLE'
    ? outcome.blocking.map(({ code, reason }) => `${code} ${reason}`).join()
    : outcome.outcome
}

test('requests that arrive together travel in one batch, and the earlier of two that want one seat wins', async (t) => {
  const { sql } = await freshDatabase(t)
  const store = postgresStore(sql)
  const id = await store.open({ seats: ROW })
  const batches: number[] = []
  const combiner = createCombiner(store, { onBatch: (size) => batches.push(size) })
  const outcomes = await Promise.all(
    [['F1', 'F2'], ['F2', 'F3'], ['F3', 'F4'], ['F5']].map((seats) => combiner.place(wish(id, seats))),
  )
  assert.deepEqual(
    outcomes.map(namesOf),
    ['HELD', 'F2 held', 'HELD', 'HELD'],
    'nobody is refused for a seat that nobody got',
  )
  assert.equal(batches[0], 4)
  assert.ok(batches.length <= 3)
})

test('a request that fails in the database does not refuse its neighbours', async (t) => {
  const { sql } = await freshDatabase(t)
  const store = postgresStore(sql)
  const id = await store.open({ seats: ROW })
  const combiner = createCombiner(store)
  const settled = await Promise.allSettled([
    combiner.place(wish(id, ['F1'])),
    combiner.place(wish(id, ['F2'], { amountMinor: -1 })),
    combiner.place(wish(id, ['F3'])),
  ])
  assert.deepEqual(
    settled.map((one) => (one.status === 'fulfilled' ? one.value.outcome : 'rejected')),
    ['HELD', 'rejected', 'HELD'],
  )
})

test('a full lane says 503 with Retry-After at once, and a closed combiner too', async (t) => {
  const { sql } = await freshDatabase(t)
  const store = postgresStore(sql)
  const id = await store.open({ seats: ROW })
  const combiner = createCombiner(store, { laneLengthMax: 2 })
  const settled = await Promise.allSettled(ROW.map((seat) => combiner.place(wish(id, [seat]))))
  const refused = settled.filter((one) => one.status === 'rejected').map((one) => one.reason)
  assert.equal(refused.length, 6)
  for (const reason of refused) {
    assert.ok(reason instanceof Problem)
    assert.equal(reason.code, 'OVERLOADED')
    assert.equal(reason.facts.retryAfterSeconds, 1)
  }
  await combiner.close()
  await assert.rejects(combiner.place(wish(id, ['F8'])), { code: 'OVERLOADED' })
})

test('an inventory that stays locked is 503 within its lock timeout; the others of the lane are served', async (t) => {
  const db = await freshDatabase(t)
  const store = postgresStore(db.sql)
  const locked = await store.open({ seats: ROW })
  const open = await store.open({ seats: ROW })
  const impatient = db.connect(1)
  await impatient`set lock_timeout = '300ms'`
  const combiner = createCombiner(postgresStore(impatient), { lanes: 1 })
  await db.sql.begin(async (tx) => {
    await tx`select 1 from inventories where id = ${locked} for update`
    const startMs = performance.now()
    const settled = await Promise.allSettled([combiner.place(wish(locked, ['F1'])), combiner.place(wish(open, ['F1']))])
    assert.ok(performance.now() - startMs < 3_000)
    const [hung, served] = settled
    assert.ok(hung?.status === 'rejected' && hung.reason instanceof Problem && hung.reason.code === 'OVERLOADED')
    assert.ok(served?.status === 'fulfilled' && served.value.outcome === 'HELD')
  })
  assert.equal((await combiner.place(wish(locked, ['F1']))).outcome, 'HELD', 'and afterwards the lane works as before')
})

test('a commit whose answer was lost is found again: the retry answers the hold it had placed', async (t) => {
  const { sql } = await freshDatabase(t)
  const store = postgresStore(sql)
  const id = await store.open({ seats: ROW })
  let cuts = 1
  const deaf: SeatStore = {
    ...store,
    async place(requests, judgeOnly) {
      const outcomes = await store.place(requests, judgeOnly)
      if (cuts-- > 0) throw Object.assign(new Error('connection lost after the commit'), { code: 'CONNECTION_CLOSED' })
      return outcomes
    },
  }
  const request = wish(id, ['F5', 'F6'])
  const outcome = await createCombiner(deaf).place(request)
  assert.ok(outcome.outcome === 'HELD' && outcome.holdId === request.holdId)
  const holds = await sql`select 1 from holds`
  assert.equal(holds.length, 1)
})

test('a database that is away is 503 DATABASE_UNAVAILABLE, and nothing stays in the lane', async (t) => {
  const { sql } = await freshDatabase(t)
  const gone: SeatStore = {
    ...postgresStore(sql),
    place: () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
  }
  const combiner = createCombiner(gone)
  await assert.rejects(combiner.place(wish(1, ['F1'])), { code: 'DATABASE_UNAVAILABLE' })
  await combiner.close()
})

test('B103-like: what a long lane is refused from one picture names every seat in the way, and refuses nobody whose seats are free', async (t) => {
  const { sql } = await freshDatabase(t)
  const store = postgresStore(sql)
  const id = await store.open({ seats: ROW })
  await store.block(id, ['F8'], 'staff', 'broken')
  const own = wish(id, ['F3'], { customerId: 'own' })
  assert.equal((await createCombiner(store).place(own)).outcome, 'HELD')
  let pictures = 0
  const combiner = createCombiner(store, {
    batchMax: 1,
    picture: (inventoryId) => {
      pictures++
      return readPicture(sql, inventoryId)
    },
  })
  const outcomes = await Promise.all([
    combiner.place(wish(id, ['F1', 'F2'])),
    combiner.place(wish(id, ['F2', 'F8'])),
    combiner.place(wish(id, ['F2', 'F9'])),
    combiner.place(wish(id, ['F3', 'F4'], { customerId: 'own' })),
    combiner.place(wish(id, ['F5', 'F6'])),
    combiner.place(wish(id, ['F6', 'F7'])),
  ])
  assert.deepEqual(outcomes.map(namesOf), [
    'HELD',
    'F2 held,F8 blocked',
    'F2 held,F9 unknown',
    'HELD',
    'HELD',
    'F6 held',
  ])
  assert.ok(pictures > 0)
})

test('a picture shows a lapsed hold as free, and says when nothing is on sale', async (t) => {
  const db = await freshDatabase(t)
  const store = postgresStore(db.sql)
  const id = await store.open({ seats: ['F1', 'F2'], saleClosesAt: '2100-01-01T00:00:00Z' })
  await store.place([wish(id, ['F1'], { customerId: 'a' })])
  const held = await readPicture(db.sql, id)
  assert.deepEqual(held?.seats.get('F1'), { code: 'F1', reason: 'held' })
  assert.equal(held?.seats.get('F2'), null)
  assert.deepEqual([...(held?.customers ?? [])], ['a'])
  await db.shiftClock(600_001)
  assert.equal((await readPicture(db.sql, id))?.seats.get('F1'), null)
  await db.freezeClock('2100-01-01T00:00:00Z')
  assert.equal((await readPicture(db.sql, id))?.onSale, false)
  assert.equal(await readPicture(db.sql, 999_999), null)
})
