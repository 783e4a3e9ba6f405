// alone: races for counted units and among sweepers, and the deadlock hunt, on a real PostgreSQL with two processes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '#test/support/database.ts'
import { raceC9 } from './every-kind.ts'
import { raceB006, raceB007, raceC4, raceLastUnit } from './pools.ts'
import { printedSeed } from './processes.ts'
import { raceSweepers } from './sweepers.ts'

const long = Boolean(process.env.HOLDFAST_TEST_LONG)
const seed = printedSeed()

test('B003: the last unit, 20 buyers: one hold', async (t) => {
  assert.deepEqual(await raceLastUnit(await freshDatabase(t), { clients: 20, rounds: long ? 2_000 : 100 }), [])
})

test('C4, B021: 180 places and 3 of overbooking, 500 buyers: exactly 183 sold', async (t) => {
  assert.deepEqual(await raceC4(await freshDatabase(t), { clients: 500, rounds: long ? 100 : 5 }), [])
})

test('B007: two orders of one fare class in one moment: both are counted', async (t) => {
  assert.deepEqual(await raceB007(await freshDatabase(t), { rounds: long ? 5_000 : 200 }), [])
})

test('B006: random parallel calls on one fare class: the counters equal the recount', async (t) => {
  const size = { clients: 40, calls: long ? 100_000 : 3_000, seed }
  assert.deepEqual(await raceB006(await freshDatabase(t), size), [])
})

test('B014: 20 sweepers, 500 lapsed holds: each tidied once', async (t) => {
  assert.deepEqual(await raceSweepers(await freshDatabase(t), { sweepers: 20, rounds: long ? 50 : 3 }), [])
})

test('C9: every kind of transaction in random order, 64 clients on 20 connections: no deadlock, no long wait', async (t) => {
  const size = { clients: 64, poolMax: 20, forMs: long ? 1_800_000 : 20_000, seed }
  const { violations, counts } = await raceC9(await freshDatabase(t), size)
  console.log(JSON.stringify(counts))
  assert.deepEqual(violations, [])
  assert.ok(Object.keys(counts).length === 12, 'a kind of transaction never ran')
})
