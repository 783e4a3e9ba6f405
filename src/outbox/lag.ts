// How far telling is behind, sink by sink: what an operator watches and the audit bounds.
import type { Tx } from '#database/connect.ts'

export type SinkLag = {
  sink: string
  since: string
  /** Age of the oldest event that is still to be sent, 0 without one. Events behind a parked one are not counted: they wait for a person. */
  oldestUnsentSeconds: number
  unsent: number
  /** Given up on; each stops its own booking's events to this sink and nobody else's. */
  parked: number
}

/** Every registered sink, by name. */
export async function outboxLag(tx: Tx): Promise<SinkLag[]> {
  return tx<SinkLag[]>`
    with blocked as materialized (
      select inventory_id, booking_id, sink, min(seq) as seq from outbox_deliveries where parked_at is not null group by 1, 2, 3)
    select s.name as sink, s.since,
      coalesce(extract(epoch from (select holdfast_now() offset 0) - min(d.created_at) filter (where b.seq is null)), 0)::float8 as oldest_unsent_seconds,
      (count(d.sink) filter (where d.parked_at is null))::int as unsent, (count(d.sink) filter (where d.parked_at is not null))::int as parked
    from outbox_sinks s left join outbox_deliveries d on d.sink = s.name
      left join blocked b on b.inventory_id = d.inventory_id and b.booking_id = d.booking_id and b.sink = d.sink and b.seq <= d.seq
    group by s.name, s.since order by s.name`
}
