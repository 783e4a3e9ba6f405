// What every race runs on: several processes as PostgreSQL sees them (a pool and a combiner each, sharing nothing), and a list of what went wrong.
import { randomUUID } from 'node:crypto'
import type { Sql, Tx } from '#database/connect.ts'
import { auditInventories } from '#inventory/audit/audit-inventories.ts'
import { type Combiner, createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { PlaceOutcome, SeatStore } from '#inventory/seat-store.ts'
import { requestOf, type Wish } from '#test/contract/ground.ts'
import type { TestDatabase } from '#test/support/database.ts'

export type Process = { sql: Sql; store: SeatStore; combiner: Combiner }

export type Race = {
  processes: Process[]
  /** The process that client number so and so talks to. */
  processOf: (client: number) => Process
  /** Sentences; an empty list is a race that was run cleanly. */
  violations: string[]
  /** Through the combiner of the client's process; an error is a violation and answers null. */
  place: (client: number, wish: Wish) => Promise<PlaceOutcome | null>
  /** Closes the processes, audits what they left and answers all violations. */
  finish: () => Promise<string[]>
}

export type RaceSize = { rounds: number; clients: number }

// One sentence of a kind is enough to fail, and thousands would be no easier to read.
const VIOLATIONS_MAX = 200

export function startRace(db: TestDatabase, { processes: count = 2, poolMax = 5 } = {}): Race {
  const violations: string[] = []
  const note = (sentence: string) => violations.length < VIOLATIONS_MAX && violations.push(sentence)
  const processes = Array.from({ length: count }, () => {
    const sql = db.connect(poolMax, { lockTimeoutMs: 2_000, statementTimeoutMs: 5_000 })
    const store = watched(sql, note)
    return { sql, store, combiner: createCombiner(store) }
  })
  const processOf = (client: number) => processes[client % count] as Process
  return {
    processes,
    processOf,
    violations,
    place: (client, wish) =>
      processOf(client)
        .combiner.place(requestOf(wish))
        .catch((error: unknown) => {
          note(`a client was answered with an error: ${error}`)
          return null
        }),
    async finish() {
      await Promise.all(processes.map(({ combiner }) => combiner.close()))
      for (const { invariant, rows } of await auditInventories(db.sql))
        note(`the audit found ${invariant}: ${JSON.stringify(rows.slice(0, 3))}`)
      await Promise.all(processes.map(({ sql }) => sql.end()))
      return violations
    },
  }
}

// The combiner heals a batch that failed by asking again, so no client sees it; here every failure counts: with the lock in its place there is none.
function watched(tx: Tx, note: (sentence: string) => void): SeatStore {
  const store = postgresStore(tx)
  return {
    ...store,
    place: (requests, judgeOnly) =>
      store.place(requests, judgeOnly).catch((error: unknown) => {
        note(`a batch of ${requests.length} failed: ${error}`)
        throw error
      }),
  }
}

/** Everybody a stranger to everybody else. */
export function stranger(): string {
  return randomUUID()
}

/** A random number generator by a seed, so that a race's choices can be made again (its timing cannot): mulberry32. */
export function chance(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** The seed of this run, printed; HOLDFAST_TEST_SEED gives it back. */
export function printedSeed(): number {
  const seed = Number(process.env.HOLDFAST_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`seed ${seed}`)
  return seed
}
