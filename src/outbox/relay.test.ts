// The relay: order per booking, nothing lost, nothing held up by somebody else's poison, any number of relays, whatever order transactions commit in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bookings, firstDeliveries, INVENTORY, memorySink, tell } from '#test/outbox/outbox-ground.ts'
import { freshDatabase } from '#test/support/database.ts'
import { append } from './append.ts'
import { outboxLag } from './lag.ts'
import { ATTEMPTS_MAX } from './note-outcome.ts'
import { prunePublished } from './prune-outbox.ts'
import { relayEvents } from './relay.ts'
import type { Sink } from './sink.ts'

const DAY_MS = 86_400_000

test('events leave in the order of their booking, once, with the payload they were written with', async (t) => {
  const db = await freshDatabase(t)
  const [a = '', b = ''] = await bookings(db.sql, 2)
  for (const [id, note] of [
    [a, 'one'],
    [b, 'x'],
    [a, 'two'],
    [a, 'three'],
  ] as const)
    await tell(db.sql, id, note)
  const { sink, got, seqs } = memorySink()
  assert.equal(await relayEvents(db.sql, [sink]), 4)
  assert.equal(await relayEvents(db.sql, [sink]), 0)
  assert.deepEqual([seqs(a), seqs(b)], [[1, 2, 3], [1]])
  assert.deepEqual(got.find(({ bookingId }) => bookingId === b)?.payload, { note: 'x' })
})

test('the event of a transaction that rolled back is never told, and leaves no gap', async (t) => {
  const db = await freshDatabase(t)
  const [a = ''] = await bookings(db.sql, 1)
  await tell(db.sql, a, 1)
  const failing = db.sql.begin(async (tx) => {
    await append(tx, { inventoryId: INVENTORY, bookingId: a, name: 'BookingFailed', payload: {} })
    throw new Error('rolled back')
  })
  await assert.rejects(failing, /rolled back/)
  await tell(db.sql, a, 2)
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
  const [early = '', late = ''] = await bookings(db.sql, 2)
  const { sink, got } = memorySink()
  await db.sql.begin(async (tx) => {
    await append(tx, { inventoryId: INVENTORY, bookingId: early, name: 'BookingPending', payload: {} })
    await tell(db.sql, late, 1)
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
  const [sick = '', well = ''] = await bookings(db.sql, 2)
  for (const note of [1, 2, 3]) for (const id of [sick, well]) await tell(db.sql, id, note)
  let broken = true
  const { sink, seqs } = memorySink((event) => (broken && event.bookingId === sick && event.seq === 2 ? 'down' : null))
  await relayEvents(db.sql, [sink])
  assert.deepEqual([seqs(sick), seqs(well)], [[1], [1, 2, 3]])
  assert.equal(await relayEvents(db.sql, [sink]), 0)
  const [row] = await db.sql`select attempts, last_error from outbox_deliveries where booking_id = ${sick} and seq = 2`
  assert.deepEqual({ ...row }, { attempts: 1, lastError: 'down' })
  broken = false
  await db.shiftClock(1_000)
  await relayEvents(db.sql, [sink])
  assert.deepEqual(seqs(sick), [1, 2, 3])
})

test('poison is parked after its tries, stops its own booking only, and no longer counts as lag', async (t) => {
  const db = await freshDatabase(t)
  const [sick = '', well = ''] = await bookings(db.sql, 2)
  for (const id of [sick, sick, well]) await tell(db.sql, id, 1)
  const { sink, seqs } = memorySink((event) => (event.bookingId === sick ? 'poison' : null))
  for (let round = 0; round < ATTEMPTS_MAX; round++) {
    await db.shiftClock(round * 120_000)
    await relayEvents(db.sql, [sink])
  }
  const rows =
    await db.sql`select seq, attempts, parked_at is not null as parked from outbox_deliveries where booking_id = ${sick} order by seq`
  assert.deepEqual(
    [...rows].map((row) => ({ ...row })),
    [
      { seq: 1, attempts: ATTEMPTS_MAX, parked: true },
      { seq: 2, attempts: 0, parked: false },
    ],
  )
  await tell(db.sql, well, 2)
  await db.shiftClock(ATTEMPTS_MAX * 120_000)
  await relayEvents(db.sql, [sink])
  assert.deepEqual([seqs(sick), seqs(well)], [[], [1, 2]])
  const [{ since: _, ...lag } = { since: '' }] = await outboxLag(db.sql)
  assert.deepEqual(lag, { sink: 'in-process', oldestUnsentSeconds: 0, unsent: 1, parked: 1 })
})

test('trap 22: three relays, a sink that fails at random, events written meanwhile: every booking in order, none missing', async (t) => {
  const db = await freshDatabase(t)
  const ids = await bookings(db.sql, 30)
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
  for (let note = 1; note <= 10; note++) for (const id of ids) await tell(db.sql, id, note)
  writing = false
  await Promise.all(relaying)
  for (let round = 1; round <= 12; round++) {
    await db.shiftClock(round * 120_000)
    await Promise.all(relays.map((sql) => relayEvents(sql, [sink])))
  }
  const expected = Array.from({ length: 10 }, (_, index) => index + 1)
  for (const id of ids) assert.deepEqual(firstDeliveries(seqs(id)), expected)
  assert.equal((await outboxLag(db.sql))[0]?.unsent, 0)
})

test('a relay that died with a batch is followed by another when its lease is over', async (t) => {
  const db = await freshDatabase(t)
  const [a = ''] = await bookings(db.sql, 1)
  await tell(db.sql, a, 1)
  const dying: Sink = { name: 'in-process', send: () => new Promise(() => {}) }
  void relayEvents(db.connect(1), [dying])
  const { sink, seqs } = memorySink()
  for (let waited = 0; waited < 100; waited++) {
    const [row] = await db.sql`select 1 from outbox_deliveries where leased_until is not null`
    if (row) break
    await sleep(10)
  }
  assert.equal(await relayEvents(db.sql, [sink]), 0)
  await db.shiftClock(31_000)
  assert.equal(await relayEvents(db.sql, [sink]), 1)
  assert.deepEqual(seqs(a), [1])
})

test('what was told long ago is forgotten, what was not is kept, and numbering goes on', async (t) => {
  const db = await freshDatabase(t)
  const [a = '', b = ''] = await bookings(db.sql, 2)
  await tell(db.sql, a, 1)
  const { sink } = memorySink()
  await relayEvents(db.sql, [sink])
  await tell(db.sql, b, 1)
  assert.equal(await prunePublished(db.sql, 8), 0)
  await db.shiftClock(8 * DAY_MS + 1_000)
  assert.ok(((await outboxLag(db.sql))[0]?.oldestUnsentSeconds ?? 0) > 8 * 86_000)
  assert.equal(await prunePublished(db.sql, 8), 1)
  await tell(db.sql, a, 2)
  const [row] = await db.sql`select seq from outbox where booking_id = ${a}`
  assert.equal(row?.seq, 2)
})
