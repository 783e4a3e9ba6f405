// Sends again what was sent, and for the first time what came while the endpoint was disabled: as far back as the outbox remembers.
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { type Endpoint, wants } from './endpoint.ts'

/** Every event since then that the endpoint wants, under the ids they always had. Answers how many are on their way. */
export async function replaySince(sql: Sql, { id }: Endpoint, since: string): Promise<number> {
  const queued = await sql`
    insert into webhook_deliveries as d (inventory_id, endpoint_id, event_id, name, next_attempt_at, created_at)
    select e.inventory_id, w.id, e.id, e.name, clock.t, clock.t
    from webhook_endpoints w, outbox e join bookings b on b.inventory_id = e.inventory_id and b.id = e.booking_id,
      (select holdfast_now() as t offset 0) clock
    where w.id = ${id} and e.created_at >= ${since} and ${wants(sql)}
    on conflict (inventory_id, endpoint_id, event_id) do update
      set status = 'DUE', attempts = 0, ended_at = null, next_attempt_at = excluded.next_attempt_at`
  return queued.count
}

/** Throws NOT_FOUND when it was never meant for this endpoint, or is forgotten. */
export async function replayOne(sql: Sql, { id }: Endpoint, eventId: string): Promise<void> {
  const queued = await sql`
    update webhook_deliveries d set status = 'DUE', attempts = 0, ended_at = null, next_attempt_at = holdfast_now()
    where endpoint_id = ${id} and event_id = ${eventId}
      and exists (select from outbox o where o.inventory_id = d.inventory_id and o.id = d.event_id)`
  if (queued.count === 0) throw new Problem('NOT_FOUND')
}
