// alone: races for seats on a real PostgreSQL, two processes; a clean race leaves no violation and a clean audit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '#test/support/database.ts'
import { raceC3 } from './expiry-edge.ts'
import { raceC2 } from './groups.ts'
import { raceLockWait } from './lock-waits.ts'
import { raceB009, raceC1, raceTabs } from './one-seat.ts'
import { printedSeed } from './processes.ts'

const long = Boolean(process.env.HOLDFAST_TEST_LONG)
const seed = printedSeed()

test('C1, B001: 50 clients, one seat: one hold and 49 SEATS_UNAVAILABLE, round after round', async (t) => {
  const size = long ? { clients: 200, rounds: 2_000 } : { clients: 50, rounds: 500 }
  assert.deepEqual(await raceC1(await freshDatabase(t), size), [])
})

test('C2: random groups of 1 to 8 of 12 seats, 20 clients: who is refused met a winner', async (t) => {
  const size = { clients: 20, rounds: long ? 50_000 : 1_000, seed }
  assert.deepEqual(await raceC2(await freshDatabase(t), size), [])
})

test('C3: around the end of a hold exactly one of paid, held by another, free', async (t) => {
  const { violations, counts } = await raceC3(await freshDatabase(t), { rounds: long ? 30_000 : 600, seed })
  console.log(JSON.stringify(counts))
  assert.deepEqual(violations, [])
  assert.ok(counts.confirmed > 0 && counts.extended > 0 && counts.taken > 0, 'the edge was missed')
})

test('traps 1 to 3: who waited for the lock is judged by the time after the wait', async (t) => {
  assert.deepEqual(await raceLockWait(await freshDatabase(t), { rounds: long ? 100 : 5 }), [])
})

test('B009: the same four seats in opposite order: one winner with all four, no deadlock', async (t) => {
  assert.deepEqual(await raceB009(await freshDatabase(t), { rounds: long ? 5_000 : 200 }), [])
})

test('B010, B013: one customer in nine tabs: one hold that is not being paid, and never more than the limit', async (t) => {
  assert.deepEqual(await raceTabs(await freshDatabase(t), { clients: 9, rounds: long ? 2_000 : 100 }), [])
})
