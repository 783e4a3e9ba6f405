// Notes in a sink's queue what became of a batch: acknowledged and gone, failed and backing off, parked, or simply to be tried again.
import type { Sql } from '#database/connect.ts'
import type { OutboxEvent } from './event.ts'
import type { Claimed, OnParked } from './relay.ts'

const BACKOFF_FIRST_MS = 250
const BACKOFF_MAX_MS = 60_000
/** About ten minutes of trying; then the event is parked for this sink, with its booking, for a person to look at. */
export const ATTEMPTS_MAX = 16

export type Accepted = Pick<OutboxEvent, 'inventoryId' | 'id'>
export type Failure = { event: Claimed; error: string }

/**
 * Whatever became of the lease meanwhile: accepted is accepted. The row of the fact counts down in the same statement, and two sinks that finish at
 * once wait for each other there, in one order, so that the last one always sees that it is the last. Answers how many were still in the queue.
 */
export async function noteDelivered(sql: Sql, sink: string, events: Accepted[]): Promise<number> {
  const told = await sql`
    with locked as materialized (
      select o.inventory_id, o.id from outbox o
        join unnest(${events.map(({ inventoryId }) => inventoryId)}::bigint[], ${events.map(({ id }) => id)}::uuid[]) e (inventory_id, id)
          on o.inventory_id = e.inventory_id and o.id = e.id
      order by o.inventory_id, o.id for update of o),
    gone as (
      delete from outbox_deliveries d using locked l
      where d.inventory_id = l.inventory_id and d.event_id = l.id and d.sink = ${sink} returning d.inventory_id, d.event_id)
    update outbox o set unsent = o.unsent - 1, published_at = case when o.unsent = 1 then (select holdfast_now() offset 0) end
    from gone g where o.inventory_id = g.inventory_id and o.id = g.event_id`
  return told.count
}

/** Only our own lease is given back: when it ran out meanwhile, another relay has the booking. */
export async function releaseLeases(sql: Sql, sink: string, events: Claimed[]): Promise<void> {
  await sql`
    update outbox_deliveries set leased_until = null
    where sink = ${sink} and leased_until = ${events[0]?.leasedUntil ?? null} and (inventory_id, event_id) in
      (select * from unnest(${events.map(({ inventoryId }) => inventoryId)}::bigint[], ${events.map(({ id }) => id)}::uuid[]))`
}

export async function noteFailures(sql: Sql, sink: string, failures: Failure[], onParked: OnParked): Promise<void> {
  await sql.begin(async (tx) => {
    for (const { event, error } of failures) {
      const { inventoryId, id, attempts, leasedUntil } = event
      const pauseMs = Math.min(BACKOFF_FIRST_MS * 2 ** attempts, BACKOFF_MAX_MS)
      const [row] = await tx<{ parked: boolean }[]>`
        update outbox_deliveries set attempts = attempts + 1, last_error = ${error}, leased_until = null,
          next_attempt_at = holdfast_now() + ${pauseMs} * interval '1 ms',
          parked_at = case when attempts + 1 >= ${ATTEMPTS_MAX} then holdfast_now() end
        where sink = ${sink} and inventory_id = ${inventoryId} and event_id = ${id} and leased_until = ${leasedUntil}
        returning parked_at is not null as parked`
      if (row?.parked) await onParked(tx, { ...event, sink, error })
    }
  })
}
