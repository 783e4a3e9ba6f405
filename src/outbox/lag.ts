// How far telling is behind: what an operator watches and the audit bounds.
import type { Tx } from '#database/connect.ts'

export type OutboxLag = {
  /** Age of the oldest event that is still to be sent, 0 without one. Events behind a parked one are not counted: they wait for a person. */
  oldestUnsentSeconds: number
  unsent: number
  /** Given up on; each stops its own booking's events and nobody else's. */
  parked: number
}

export async function outboxLag(tx: Tx): Promise<OutboxLag> {
  const [row] = await tx<OutboxLag[]>`
    with unsent as (
      select o.created_at, o.parked_at,
        exists (select from outbox p where p.inventory_id = o.inventory_id and p.booking_id = o.booking_id and p.seq < o.seq
          and p.parked_at is not null and p.published_at is null) as blocked
      from outbox o where o.published_at is null)
    select coalesce(extract(epoch from (select holdfast_now() offset 0) - min(created_at) filter (where parked_at is null and not blocked)), 0)::float8
        as oldest_unsent_seconds,
      (count(*) filter (where parked_at is null))::int as unsent, (count(*) filter (where parked_at is not null))::int as parked
    from unsent`
  return row ?? { oldestUnsentSeconds: 0, unsent: 0, parked: 0 }
}
