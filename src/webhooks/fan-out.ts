// The sink of the outbox that webhooks are: writes down which endpoints want which events, one row each. Sending them is a worker's, at each endpoint's pace.
import type { Sql } from '#database/connect.ts'
import type { OutboxEvent } from '#outbox/event.ts'
import type { Sink } from '#outbox/sink.ts'
import { wants } from './endpoint.ts'

export const WEBHOOKS_SINK = 'webhooks'

/** An event that comes again finds its rows there already. What comes while an endpoint is disabled is not kept for it: it can ask for a replay. */
export function webhooksSink({ sql, wake }: { sql: Sql; wake: (worker: string) => void }): Sink {
  return {
    name: WEBHOOKS_SINK,
    async send(events) {
      if ((await writeDeliveries(sql, events)) > 0) wake('webhooks')
      return []
    },
  }
}

/** Answers how many are to be sent. */
export async function writeDeliveries(sql: Sql, events: OutboxEvent[]): Promise<number> {
  const column = <K extends 'inventoryId' | 'id' | 'bookingId' | 'name'>(key: K) => events.map((event) => event[key])
  const written = await sql`
    insert into webhook_deliveries (inventory_id, endpoint_id, event_id, name, next_attempt_at, created_at)
    select e.inventory_id, w.id, e.id, e.name, clock.t, clock.t
    from unnest(${column('inventoryId') as number[]}::bigint[], ${column('id')}::uuid[], ${column('bookingId')}::uuid[], ${column('name')}::text[])
        as e (inventory_id, id, booking_id, name)
      join bookings b on b.inventory_id = e.inventory_id and b.id = e.booking_id
      join webhook_endpoints w on w.status = 'ACTIVE' and ${wants(sql)}
      join api_keys k on k.id = w.key_id and k.revoked_at is null
      cross join (select holdfast_now() as t offset 0) clock
    on conflict (inventory_id, endpoint_id, event_id) do nothing`
  return written.count
}
