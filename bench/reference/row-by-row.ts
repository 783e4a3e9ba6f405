// The relay everybody writes first: take the oldest row with FOR UPDATE SKIP LOCKED, send it, mark it, commit; one row a transaction.
import type { Sql } from '#database/connect.ts'
import type { OutboxEvent } from '#outbox/event.ts'
import type { Sink } from '#outbox/sink.ts'

/** Until the outbox has nothing unsent. Keeps no order per booking, which only helps it. */
export async function relayRowByRow(sql: Sql, sink: Sink): Promise<number> {
  for (let sent = 0; ; sent++) {
    const more = await sql.begin(async (tx) => {
      const [event] = await tx<OutboxEvent[]>`
        select id, inventory_id, booking_id, seq, name, payload, created_at from outbox
        where published_at is null order by created_at limit 1 for update skip locked`
      if (!event) return false
      await sink.send([event])
      await tx`update outbox set published_at = holdfast_now() where inventory_id = ${event.inventoryId} and id = ${event.id}`
      return true
    })
    if (!more) return sent
  }
}
