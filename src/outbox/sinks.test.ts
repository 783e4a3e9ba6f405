// Several sinks: each at its own pace, none held up by another; what happens when one comes, goes, is away, or will not take an event.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAudit } from '#admin/run-audit.ts'
import { bookings, memorySink, tell } from '#test/outbox/outbox-ground.ts'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import { outboxLag } from './lag.ts'
import { ATTEMPTS_MAX } from './note-outcome.ts'
import { registerSinks, removeSink } from './register-sinks.ts'
import { type ParkedEvent, relayEvents, relayTo } from './relay.ts'
import type { Sink } from './sink.ts'
import { letGo, listParked, unpark } from './unpark.ts'

/** The test's bare bookings are no sale; what is asked here is whether the queues and the outbox agree. */
async function unsound(db: TestDatabase): Promise<string[]> {
  const { findings } = await runAudit(db.sql)
  return findings.map(({ invariant }) => invariant).filter((invariant) => invariant === '6 queued events')
}

async function isPublished(db: TestDatabase): Promise<boolean[]> {
  const rows = await db.sql<{ told: boolean }[]>`
    select published_at is not null as told from outbox order by booking_id, seq`
  return rows.map(({ told }) => told)
}

function lagOf(db: TestDatabase, sink: string) {
  return outboxLag(db.sql).then((lags) => lags.find((lag) => lag.sink === sink))
}

test('a sink that is away delays nobody else; the event counts as told when the last one has it', async (t) => {
  const db = await freshDatabase(t)
  await registerSinks(db.sql, ['in-process', 'away'])
  const [a = ''] = await bookings(db.sql, 1)
  for (const note of [1, 2]) await tell(db.sql, a, note)
  const well = memorySink()
  const other = memorySink()
  const away: Sink = { name: 'away', send: () => Promise.reject(new Error('ECONNREFUSED')) }
  assert.equal(await relayTo(db.sql, well.sink), 2)
  await assert.rejects(relayTo(db.sql, away), /ECONNREFUSED/)
  assert.deepEqual(await isPublished(db), [false, false])
  assert.equal((await lagOf(db, 'away'))?.unsent, 2)
  assert.equal((await lagOf(db, 'in-process'))?.unsent, 0)
  assert.equal(await relayTo(db.sql, { ...other.sink, name: 'away' }), 2)
  assert.deepEqual(
    [well.seqs(a), other.seqs(a)],
    [
      [1, 2],
      [1, 2],
    ],
  )
  assert.deepEqual(await isPublished(db), [true, true])
  assert.deepEqual(await unsound(db), [])
})

test('an outage of any length parks nothing: what throws is away, and no event is to blame', async (t) => {
  const db = await freshDatabase(t)
  const [a = ''] = await bookings(db.sql, 1)
  await tell(db.sql, a, 1)
  const away: Sink = { name: 'in-process', send: () => Promise.reject(new Error('away')) }
  for (let round = 0; round < ATTEMPTS_MAX + 2; round++) {
    await db.shiftClock(round * 120_000)
    await assert.rejects(relayTo(db.sql, away), /away/)
  }
  const { sink, seqs } = memorySink()
  assert.equal(await relayEvents(db.sql, [sink]), 1)
  assert.deepEqual(seqs(a), [1])
})

test('poison for one sink is parked there alone, told to a person, and the other sink has everything', async (t) => {
  const db = await freshDatabase(t)
  await registerSinks(db.sql, ['picky'])
  const [sick = '', well = ''] = await bookings(db.sql, 2)
  for (const note of [1, 2, 3]) for (const id of [sick, well]) await tell(db.sql, id, note)
  let poison = true
  const picky = memorySink((event) => (poison && event.bookingId === sick && event.seq === 2 ? 'too large' : null))
  const easy = memorySink()
  const parkedEvents: ParkedEvent[] = []
  for (let round = 0; round < ATTEMPTS_MAX; round++) {
    await db.shiftClock(round * 120_000)
    await relayEvents(db.sql, [{ ...picky.sink, name: 'picky' }, easy.sink], async (_, parked) => {
      parkedEvents.push(parked)
    })
  }
  assert.deepEqual([picky.seqs(sick), picky.seqs(well)], [[1], [1, 2, 3]])
  assert.deepEqual(
    [easy.seqs(sick), easy.seqs(well)],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  )
  const [parked, ...more] = await listParked(db.sql, { after: null, limit: 10 })
  assert.ok(parked && more.length === 0)
  assert.deepEqual(
    [parked.sink, parked.bookingId, parked.seq, parked.lastError, parked.waiting],
    ['picky', sick, 2, 'too large', 1],
  )
  assert.deepEqual(
    parkedEvents.map(({ sink, id }) => [sink, id]),
    [['picky', parked.eventId]],
  )
  poison = false
  await unpark(db.sql, parked)
  await assert.rejects(unpark(db.sql, parked), { code: 'NOT_FOUND' })
  assert.equal(await relayTo(db.sql, { ...picky.sink, name: 'picky' }), 2)
  assert.deepEqual(picky.seqs(sick), [1, 2, 3])
  assert.deepEqual(await unsound(db), [])
})

test('a parked event that is let go is never told, and those behind it leave', async (t) => {
  const db = await freshDatabase(t)
  const [sick = ''] = await bookings(db.sql, 1)
  for (const note of [1, 2, 3]) await tell(db.sql, sick, note)
  const { sink, seqs } = memorySink((event) => (event.seq === 1 ? 'poison' : null))
  for (let round = 0; round < ATTEMPTS_MAX; round++) {
    await db.shiftClock(round * 120_000)
    await relayEvents(db.sql, [sink])
  }
  const [parked] = await listParked(db.sql, { after: null, limit: 1 })
  assert.ok(parked)
  await letGo(db.sql, parked)
  await assert.rejects(letGo(db.sql, parked), { code: 'NOT_FOUND' })
  assert.equal(await relayEvents(db.sql, [sink]), 2)
  assert.deepEqual(seqs(sick), [2, 3])
  assert.deepEqual(await unsound(db), [])
})

test('a sink hears of what is written after it came; one that is taken away is waited for no longer', async (t) => {
  const db = await freshDatabase(t)
  const [a = ''] = await bookings(db.sql, 1)
  await tell(db.sql, a, 1)
  assert.deepEqual(await registerSinks(db.sql, ['late']), ['in-process'])
  await tell(db.sql, a, 2)
  const late = memorySink()
  assert.equal(await relayTo(db.sql, { ...late.sink, name: 'late' }), 1)
  assert.deepEqual(late.seqs(a), [2])
  await tell(db.sql, a, 3)
  const { sink, seqs } = memorySink()
  assert.equal(await relayTo(db.sql, sink), 3)
  assert.deepEqual(await isPublished(db), [true, true, false])
  assert.equal(await removeSink(db.sql, 'late'), 1)
  assert.deepEqual(await isPublished(db), [true, true, true])
  await assert.rejects(removeSink(db.sql, 'late'), { code: 'NOT_FOUND' })
  assert.deepEqual(seqs(a), [1, 2, 3])
  assert.deepEqual(await unsound(db), [])
})

test('two sinks that acknowledge the same events at once: the last one sees that it is the last, and neither waits for ever', async (t) => {
  const db = await freshDatabase(t)
  await registerSinks(db.sql, ['in-process', 'second', 'third'])
  const ids = await bookings(db.sql, 60)
  for (let round = 1; round <= 5; round++) {
    await Promise.all(ids.map((id) => tell(db.sql, id, round)))
    const names = ['in-process', 'second', 'third']
    await Promise.all(names.map((name) => relayTo(db.connect(2), { name, send: async () => [] })))
  }
  assert.ok((await isPublished(db)).every((told) => told))
  assert.deepEqual(await unsound(db), [])
})
