// Forgets deliveries that ended, as long after as the outbox forgets its events.
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'

const INTERVAL_MS = 3_600_000
const ROWS_AT_ONCE = 1_000

export function pruneDeliveries({ sql, config }: { sql: Sql; config: { outboxRetentionDays: number } }): Worker {
  return {
    name: 'prune-webhooks',
    intervalMs: INTERVAL_MS,
    async run() {
      for (let gone = 0; ; ) {
        const { count } = await sql`
          delete from webhook_deliveries where (inventory_id, endpoint_id, event_id) in (
            select inventory_id, endpoint_id, event_id from webhook_deliveries
            where ended_at < (select holdfast_now() offset 0) - ${config.outboxRetentionDays} * interval '1 day'
            limit ${ROWS_AT_ONCE} for update skip locked)`
        gone += count
        if (count < ROWS_AT_ONCE) return gone
      }
    },
  }
}
