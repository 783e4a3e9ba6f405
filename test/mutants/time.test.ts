// alone: negative controls of the clock and of what is given back: taken out one by one, the race or the fact that proves each must notice.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { endingFacts } from '#test/contract/ending.ts'
import { postgresGround } from '#test/contract/ground.ts'
import { raceLockWait } from '#test/races/lock-waits.ts'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import { mutate } from './mutate.ts'

// The line is changed to read what the clock says before the wait for the lock: in PL/pgSQL, where the variable is declared.
const CLOCK_BEFORE_LOCK: [string, string][] = [
  ['  t timestamptz;', '  t timestamptz := holdfast_now();'],
  ['  t := holdfast_now();', ''],
]

/** The sentences of the facts that a mutated database no longer bears out. */
async function brokenFacts(t: TestContext, take: (db: TestDatabase) => Promise<void>): Promise<string[]> {
  const broken: string[] = []
  for (const { name, check } of endingFacts) {
    const db = await freshDatabase(t)
    const ground = await postgresGround(db)
    await take(db)
    await check(ground).catch(() => broken.push(name))
  }
  return broken
}

test('with confirm’s clock read before the lock, a payment that waited past the end is taken', async (t) => {
  const db = await freshDatabase(t)
  await mutate(db, 'confirm_hold', ...CLOCK_BEFORE_LOCK)
  const violations = await raceLockWait(db, { rounds: 1 })
  assert.match(violations.join(), /a payment that waited past the end was BOOKED/)
})

test('with the batch’s clock read before the lock, a hold’s time is counted from before the wait', async (t) => {
  const db = await freshDatabase(t)
  await mutate(db, 'place_holds', ...CLOCK_BEFORE_LOCK)
  const violations = await raceLockWait(db, { rounds: 1 })
  assert.match(violations.join(), /time was counted from before his wait/)
})

test('without the expiry in every write, the facts about the end of a hold are not borne out', async (t) => {
  const broken = await brokenFacts(t, (db) =>
    mutate(db, 'expire_lapsed_holds', ["end_holds(in_inventory_id, lapsed, 'EXPIRED', decided_at)", '1']),
  )
  assert.ok(
    broken.some((name) => name.startsWith('B035, B041')),
    broken.join(),
  )
})

test('with a hold’s end let through at the instant itself (< for <=), the boundary fact is not borne out', async (t) => {
  const broken = await brokenFacts(t, (db) =>
    mutate(db, 'expire_lapsed_holds', ['h.expires_at <= decided_at', 'h.expires_at < decided_at']),
  )
  assert.ok(
    broken.some((name) => name.startsWith('B035, B041')),
    broken.join(),
  )
})

test('B038: with one unit given back whatever was held, the facts about giving back are not borne out', async (t) => {
  const broken = await brokenFacts(t, (db) => mutate(db, 'end_holds', ['p.held - q.quantity', 'p.held - 1']))
  assert.ok(
    broken.some((name) => name.startsWith('B037, B038')),
    broken.join(),
  )
})
