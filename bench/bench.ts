// What every benchmark shares: its database, its rounds that alternate ours and the reference, and how a result is printed.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type ServerAddress, type Sql } from '#database/connect.ts'
import { startEmbeddedPostgres } from '#database/embedded.ts'
import { migrate } from '#database/migrate.ts'
import { postgresStore } from '#inventory/postgres-store.ts'

export type Bench = {
  name: string
  /** What ours and the reference do, in a sentence each. */
  ours: string
  reference: string
  /** The ratio performance.md asks for. */
  mustReach: number
  run(stage: Stage): Promise<Result>
}

export type Result = {
  name: string
  ours: number
  reference: number
  ratio: number
  unit: string
  rounds: number
  notes: Record<string, unknown>
}

export type Stage = {
  /** A pool on the benchmark's own PostgreSQL: fsync and synchronous_commit on, as in the product. */
  pool(max: number): Sql
  /** Where that PostgreSQL is, for processes of their own. */
  address: ServerAddress
  /** Halves the work and the rounds: for a quick look, never for a published number. */
  quick: boolean
  say(line: string): void
}

/** Runs the work on a PostgreSQL of its own, in a temporary folder that is gone afterwards. */
export async function onStage(
  quick: boolean,
  say: (line: string) => void,
  work: (stage: Stage) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  chmodSync(dir, 0o711)
  const postgres = await startEmbeddedPostgres({ dir, log: () => {} })
  const pools: Sql[] = []
  const pool = (max: number) => {
    const sql = connect(postgres.options, { max, name: 'holdfast-bench' })
    pools.push(sql)
    return sql
  }
  try {
    await migrate(pool(1))
    await work({ pool, address: postgres.options, quick, say })
  } finally {
    await Promise.all(pools.map((sql) => sql.end({ timeout: 5 })))
    await postgres.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Opens shows of 15 rows of 20 seats, A1 to O20; answers their inventory ids. */
export async function openShows(sql: Sql, count: number): Promise<number[]> {
  const seats = [...'ABCDEFGHIJKLMNO'].flatMap((row) => Array.from({ length: 20 }, (_, n) => `${row}${n + 1}`))
  const ids: number[] = []
  for (let n = 0; n < count; n++) ids.push(await postgresStore(sql).open({ seats }))
  return ids
}

/** Empties the tables a round writes, so that every round meets the same database. */
export async function sweepStage(sql: Sql): Promise<void> {
  await sql`truncate inventories, inventory_descriptions, seats, seat_blocks, pools, holds, hold_pools, booked_seats, booked_pools, inventory_changes cascade`
  await sql`vacuum analyze`.catch(() => {})
  await sql`checkpoint`
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}

export function shuffle<T>(items: T[], random: () => number): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const swapped = items[i] as T
    items[i] = items[j] as T
    items[j] = swapped
  }
  return items
}

/** A small seeded generator (mulberry32): the same crowd for ours and the reference. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
