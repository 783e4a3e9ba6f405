// The two seat stores against each other: random commands, a clock that jumps, and after every command the same answer and the same state.
// HOLDFAST_TEST_SEED replays a run, HOLDFAST_TEST_PATH (as fast-check prints it) the one list that failed.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ask,
  type Command,
  command,
  POOLS,
  type RunHold,
  SEATS,
  type Side,
  timeAfter,
} from '#test/contract/commands.ts'
import { later, micros, START } from '#test/contract/ground.ts'
import { freshDatabase } from '#test/support/database.ts'
import { auditInventories } from './audit/audit-inventories.ts'
import { memoryStore } from './memory-store.ts'
import { postgresStore } from './postgres-store.ts'

const RUNS = process.env.HOLDFAST_TEST_LONG ? 10_000 : 150
const COMMANDS_MAX = 60
const TIME_LIMIT_MS = process.env.HOLDFAST_TEST_LONG ? 1_800_000 : 90_000

// Every answer there is must have been given, or the commands have become too tame to find anything.
const ANSWERS =
  `HELD SAME UNAVAILABLE LIMIT CLOSED NOT_OPEN DEFERRED threw held yours booked blocked available unknown sold_out EXTENDED EXPIRED
  EXTENSION_LIMIT NOT_HELD NOT_FOUND RELEASED ENDED BOOKED ALREADY_BOOKED CANCELLED NOT_BOOKED BLOCKED UNBLOCKED`.split(
    /\s+/,
  )

test('random commands: memory and PostgreSQL answer the same and end in the same state', async (t) => {
  const db = await freshDatabase(t)
  // A setting of the one session instead of a new function for every tick: a clock that costs nothing to move.
  const sql = db.connect(1)
  await sql.unsafe(`create or replace function holdfast_now() returns timestamptz language sql volatile
    as $$ select current_setting('holdfast_test.now')::timestamptz $$`)
  let now = START
  const setClock = async (time: string) => {
    now = time
    await sql`select set_config('holdfast_test.now', ${time}, false)`
  }
  const stores = [memoryStore({ now: () => micros(now) }), postgresStore(sql)]
  const given = new Map<string, number>()

  async function run(commands: Command[]): Promise<void> {
    await setClock(START)
    const sides: Side[] = []
    for (const store of stores) {
      const sale = { saleOpensAt: later(START, 30_000), saleClosesAt: later(START, 900_000) }
      const inventoryIds = [
        await store.open({ seats: SEATS, pools: POOLS }),
        await store.open({ seats: SEATS, pools: POOLS, ...sale }),
      ]
      sides.push({ store, inventoryIds })
    }
    const [model, product] = sides as [Side, Side]
    const holds: RunHold[] = [{ inventory: 0, seats: [], holdId: newId(), bookingId: newId() }]
    for (const one of commands) {
      const newHolds =
        'wishes' in one
          ? one.wishes.map(({ inventory, seats }) => ({ inventory, seats, holdId: newId(), bookingId: newId() }))
          : []
      const [expected, actual] = [await ask(model, one, holds, newHolds), await ask(product, one, holds, newHolds)]
      assert.deepEqual(plain(actual), plain(expected), JSON.stringify(one))
      count(given, expected)
      holds.push(...newHolds.filter((_, index) => wasGranted(expected, index)))
      await setClock(await timeAfter(one, now, holds, model))
      assert.deepEqual(await stateOf(product), await stateOf(model), `the state after ${JSON.stringify(one)}`)
    }
    for (const { inventory, holdId } of holds) {
      const [expected, actual] = await Promise.all(
        sides.map(({ store, inventoryIds }) => store.readHold(inventoryIds[inventory] ?? 0, holdId)),
      )
      assert.deepEqual(plain(actual), plain(expected))
    }
  }

  const seed = Number(process.env.HOLDFAST_TEST_SEED ?? randomInt(2 ** 31))
  console.log(`seed ${seed}`)
  const path = process.env.HOLDFAST_TEST_PATH
  const limits = { numRuns: RUNS, interruptAfterTimeLimit: TIME_LIMIT_MS, markInterruptAsFailure: false }
  const lists = fc.array(command, { minLength: 20, maxLength: COMMANDS_MAX, size: 'max' })
  await fc.assert(fc.asyncProperty(lists, run), { seed, ...limits, ...(path ? { path } : {}) })

  assert.deepEqual(await auditInventories(sql), [])
  console.log(JSON.stringify(Object.fromEntries(given)))
  if (path) return
  assert.deepEqual(
    ANSWERS.filter((answer) => !given.has(answer)),
    [],
    'answers that were never given',
  )
})

// Commands about holds that never were tell little: one that is unknown from the start is enough.
function wasGranted(outcomes: unknown, index: number): boolean {
  return Array.isArray(outcomes) && outcomes[index]?.outcome === 'HELD'
}

let serial = 0
function newId(): string {
  serial += 1
  return `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`
}

// The two stores number their inventories each for itself.
function plain(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (key, value) => (key === 'inventoryId' ? undefined : value)))
}

async function stateOf({ store, inventoryIds }: Side): Promise<unknown> {
  return plain(await Promise.all(inventoryIds.map((id) => store.read(id))))
}

function count(given: Map<string, number>, answer: unknown): void {
  JSON.stringify(answer, (key, value) => {
    if (key === 'outcome' || key === 'reason' || value === 'threw') given.set(value, (given.get(value) ?? 0) + 1)
    return value
  })
}
