// Forgets what was told long ago: the outbox is a queue, not a history.
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import { dropUnregistered } from './register-sinks.ts'

/** The least that can be configured: long enough to tell a consumer again what it lost, and what the audit may rely on. */
export const RETENTION_MIN_DAYS = 7
const INTERVAL_MS = 3_600_000
// One short statement at a time, so that no relay ever waits behind a day's worth of deletions.
const ROWS_AT_ONCE = 1_000

export function pruneOutbox({ sql, config }: { sql: Sql; config: { outboxRetentionDays: number } }): Worker {
  return {
    name: 'prune-outbox',
    intervalMs: INTERVAL_MS,
    run: async () => (await dropUnregistered(sql)) + (await prunePublished(sql, config.outboxRetentionDays)),
  }
}

/** What every sink has acknowledged, so many days ago. Answers how many rows went. */
export async function prunePublished(sql: Sql, retentionDays: number): Promise<number> {
  for (let gone = 0; ; ) {
    const { count } = await sql`
      delete from outbox where (inventory_id, id) in (
        select inventory_id, id from outbox
        where published_at < (select holdfast_now() offset 0) - ${retentionDays} * interval '1 day' limit ${ROWS_AT_ONCE} for update skip locked)`
    gone += count
    if (count < ROWS_AT_ONCE) return gone
  }
}
