// Forgets what was told long ago: the outbox is a queue, not a history.
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'

/** Long enough to tell a consumer again what it lost. */
export const RETENTION_DAYS = 7
const INTERVAL_MS = 3_600_000
// One short statement at a time, so that the relay never waits behind a day's worth of deletions.
const ROWS_AT_ONCE = 1_000

export function pruneOutbox({ sql }: { sql: Sql }): Worker {
  return { name: 'prune-outbox', intervalMs: INTERVAL_MS, run: () => prunePublished(sql) }
}

/** Answers how many rows went. */
export async function prunePublished(sql: Sql): Promise<number> {
  for (let gone = 0; ; ) {
    const { count } = await sql`
      delete from outbox where (inventory_id, id) in (
        select inventory_id, id from outbox
        where published_at < (select holdfast_now() offset 0) - ${RETENTION_DAYS} * interval '1 day' limit ${ROWS_AT_ONCE} for update skip locked)`
    gone += count
    if (count < ROWS_AT_ONCE) return gone
  }
}
