// The relay: order per booking, nothing lost, nothing held up by somebody else's poison, any number of relays, whatever order transactions commit in.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import { append } from './append.ts'
import type { OutboxEvent } from './event.ts'
import { outboxLag } from './lag.ts'
import { prunePublished, RETENTION_DAYS } from './prune-outbox.ts'
import { ATTEMPTS_MAX, relayEvents } from './relay.ts'
import type { Sink } from './sink.ts'

const INVENTORY = 1
const DAY_MS = 86_400_000

async function bookings(db: TestDatabase, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  for (const [index, id] of ids.entries()) {
    await db.sql`
      insert into bookings (inventory_id, id, reference, customer_id, hold_id, status, amount_minor, currency, created_at, expires_at)
      values (${INVENTORY}, ${id}, ${`R${index}`}, 'c', ${randomUUID()}, 'PENDING', 0, 'EUR', now(), now())`
  }
  return ids
}

function tell(db: TestDatabase, bookingId: string, note: string | number) {
  const fact = { inventoryId: INVENTORY, bookingId, name: 'BookingPending' as const, payload: { note } }
  return db.sql.begin((tx) => append(tx, fact))
}

/** Remembers what it accepted; `refuses` answers why it does not take an event. */
function memorySink(refuses: (event: OutboxEvent) => string | null = () => null, pauseMs?: () => number) {
  const got: OutboxEvent[] = []
  const sink: Sink = {
    name: 'memory',
    async send(events) {
      const failed = []
      for (const queue of Map.groupBy(events, ({ bookingId }) => bookingId).values()) {
        for (const event of queue) {
          if (pauseMs) await sleep(pauseMs())
          const error = refuses(event)
          if (error !== null) {
            failed.push({ id: event.id, error })
            break
          }
          got.push(event)
        }
      }
      return failed
    },
  }
  const seqs = (bookingId: string) => got.filter((event) => event.bookingId === bookingId).map(({ seq }) => seq)
  return { sink, got, seqs }
}

/** 1, 2, 3 ... where an event may come again, but never before the ones ahead of it came. */
function firstDeliveries(seqs: number[]): number[] {
  return [...new Set(seqs)]
}

test('events leave in the order of their booking, once, with the payload they were written with', async (t) => {
  const db = await freshDatabase(t)
  const [a = '', b = ''] = await bookings(db, 2)
  for (const [id, note] of [
    [a, 'one'],
    [b, 'x'],
    [a, 'two'],
    [a, 'three'],
  ] as const)
    await tell(db, id, note)
  const { sink, got, seqs } = memorySink()
  assert.equal(await relayEvents(db.sql, [sink]), 4)
  assert.equal(await relayEvents(db.sql, [sink]), 0)
  assert.deepEqual([seqs(a), seqs(b)], [[1, 2, 3], [1]])
  assert.deepEqual(got.find(({ bookingId }) => bookingId === b)?.payload, { note: 'x' })
})

test('the event of a transaction that rolled back is never told, and leaves no gap', async (t) => {
  const db = await freshDatabase(t)
  const [a = ''] = await bookings(db, 1)
  await tell(db, a, 1)
  const failing = db.sql.begin(async (tx) => {
    await append(tx, { inventoryId: INVENTORY, bookingId: a, name: 'BookingFailed', payload: {} })
    throw new Error('rolled back')
  })
  await assert.rejects(failing, /rolled back/)
  await tell(db, a, 2)
  const { sink, got } = memorySink()
  await relayEvents(db.sql, [sink])
  assert.deepEqual(
    got.map(({ seq, name }) => [seq, name]),
    [
      [1, 'BookingPending'],
      [2, 'BookingPending'],
    ],
  )
})

test('trap 21: an older event that commits later is not skipped', async (t) => {
  const db = await freshDatabase(t)
  const [early = '', late = ''] = await bookings(db, 2)
  const { sink, got } = memorySink()
  await db.sql.begin(async (tx) => {
    await append(tx, { inventoryId: INVENTORY, bookingId: early, name: 'BookingPending', payload: {} })
    await tell(db, late, 1)
    assert.equal(await relayEvents(db.connect(1), [sink]), 1)
  })
  assert.equal(await relayEvents(db.sql, [sink]), 1)
  assert.deepEqual(
    got.map(({ bookingId }) => bookingId),
    [late, early],
  )
})

test('a booking stops at its first failure, backs off and goes on in order; others are not held up', async (t) => {
  const db = await freshDatabase(t)
  const [sick = '', well = ''] = await bookings(db, 2)
  for (const note of [1, 2, 3]) for (const id of [sick, well]) await tell(db, id, note)
  let broken = true
  const { sink, seqs } = memorySink((event) => (broken && event.bookingId === sick && event.seq === 2 ? 'down' : null))
  await relayEvents(db.sql, [sink])
  assert.deepEqual([seqs(sick), seqs(well)], [[1], [1, 2, 3]])
  assert.equal(await relayEvents(db.sql, [sink]), 0)
  const [row] = await db.sql`select attempts, last_error from outbox where booking_id = ${sick} and seq = 2`
  assert.deepEqual({ ...row }, { attempts: 1, lastError: 'memory: down' })
  broken = false
  await db.shiftClock(1_000)
  await relayEvents(db.sql, [sink])
  assert.deepEqual(seqs(sick), [1, 2, 3])
})

test('poison is parked after its tries, stops its own booking only, and no longer counts as lag', async (t) => {
  const db = await freshDatabase(t)
  const [sick = '', well = ''] = await bookings(db, 2)
  for (const id of [sick, sick, well]) await tell(db, id, 1)
  const { sink, seqs } = memorySink((event) => (event.bookingId === sick ? 'poison' : null))
  for (let round = 0; round < ATTEMPTS_MAX; round++) {
    await db.shiftClock(round * 120_000)
    await relayEvents(db.sql, [sink])
  }
  const rows =
    await db.sql`select seq, attempts, parked_at is not null as parked from outbox where booking_id = ${sick} order by seq`
  assert.deepEqual(
    [...rows].map((row) => ({ ...row })),
    [
      { seq: 1, attempts: ATTEMPTS_MAX, parked: true },
      { seq: 2, attempts: 0, parked: false },
    ],
  )
  await tell(db, well, 2)
  await db.shiftClock(ATTEMPTS_MAX * 120_000)
  await relayEvents(db.sql, [sink])
  assert.deepEqual([seqs(sick), seqs(well)], [[], [1, 2]])
  assert.deepEqual(await outboxLag(db.sql), { oldestUnsentSeconds: 0, unsent: 1, parked: 1 })
})

test('trap 22: three relays, a sink that fails at random, events written meanwhile: every booking in order, none missing', async (t) => {
  const db = await freshDatabase(t)
  const ids = await bookings(db, 30)
  const seed = Number(process.env.HOLDFAST_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`seed ${seed}`)
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 2 ** 31
  }
  const { sink, seqs } = memorySink(
    () => (random() < 0.1 ? 'random' : null),
    () => random() * 2,
  )
  const relays = Array.from({ length: 3 }, () => db.connect(3))
  let writing = true
  const relaying = relays.map(async (sql) => {
    while (writing) await relayEvents(sql, [sink])
  })
  for (let note = 1; note <= 10; note++) for (const id of ids) await tell(db, id, note)
  writing = false
  await Promise.all(relaying)
  for (let round = 1; round <= 12; round++) {
    await db.shiftClock(round * 120_000)
    await Promise.all(relays.map((sql) => relayEvents(sql, [sink])))
  }
  const expected = Array.from({ length: 10 }, (_, index) => index + 1)
  for (const id of ids) assert.deepEqual(firstDeliveries(seqs(id)), expected)
  assert.equal((await outboxLag(db.sql)).unsent, 0)
})

test('a relay that died with a batch is followed by another when its lease is over', async (t) => {
  const db = await freshDatabase(t)
  const [a = ''] = await bookings(db, 1)
  await tell(db, a, 1)
  const dying: Sink = { name: 'dying', send: () => new Promise(() => {}) }
  void relayEvents(db.connect(1), [dying])
  const { sink, seqs } = memorySink()
  for (let waited = 0; waited < 100; waited++) {
    const [row] = await db.sql`select 1 from outbox where leased_until is not null`
    if (row) break
    await sleep(10)
  }
  assert.equal(await relayEvents(db.sql, [sink]), 0)
  await db.shiftClock(31_000)
  assert.equal(await relayEvents(db.sql, [sink]), 1)
  assert.deepEqual(seqs(a), [1])
})

test('several sinks: published when each has accepted; one that is away as a whole is tried again', async (t) => {
  const db = await freshDatabase(t)
  const [a = ''] = await bookings(db, 1)
  await tell(db, a, 1)
  let away = true
  const one = memorySink()
  const other: Sink = {
    name: 'other',
    send: () => (away ? Promise.reject(new Error('ECONNREFUSED')) : Promise.resolve([])),
  }
  assert.equal(await relayEvents(db.sql, [one.sink, other]), 0)
  away = false
  await db.shiftClock(1_000)
  assert.equal(await relayEvents(db.sql, [one.sink, other]), 1)
  assert.deepEqual(one.seqs(a), [1, 1])
})

test('what was told a week ago is forgotten, what was not is kept, and numbering goes on', async (t) => {
  const db = await freshDatabase(t)
  const [a = '', b = ''] = await bookings(db, 2)
  await tell(db, a, 1)
  const { sink } = memorySink()
  await relayEvents(db.sql, [sink])
  await tell(db, b, 1)
  assert.equal(await prunePublished(db.sql), 0)
  await db.shiftClock(RETENTION_DAYS * DAY_MS + 1_000)
  assert.ok((await outboxLag(db.sql)).oldestUnsentSeconds > RETENTION_DAYS * 86_000)
  assert.equal(await prunePublished(db.sql), 1)
  await tell(db, a, 2)
  const [row] = await db.sql`select seq from outbox where booking_id = ${a}`
  assert.equal(row?.seq, 2)
})
