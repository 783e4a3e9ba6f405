// Writes a fact down in the transaction it tells of, with a line in the queue of every sink; relays tell it afterwards, in the booking's order.
import { newUuid } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import type { EventName, EventPayload } from './event.ts'

export type Fact = { inventoryId: number; bookingId: string; name: EventName; payload: EventPayload }

/**
 * The booking's next number is taken under the inventory's lock, which the caller holds: numbers have no gap and appear in their order. It stands in
 * bookings.event_seq, the one column of that table that is the outbox's. Answers the event's id; throws when there is no such booking.
 */
export async function append(tx: Tx, { inventoryId, bookingId, name, payload }: Fact): Promise<string> {
  const id = newUuid()
  const written = await tx`
    with numbered as (
      update bookings set event_seq = event_seq + 1 where inventory_id = ${inventoryId} and id = ${bookingId} returning event_seq),
    clock as (select holdfast_now() as t offset 0),
    queued as (
      insert into outbox_deliveries (inventory_id, sink, booking_id, seq, event_id, created_at, next_attempt_at)
      select ${inventoryId}, s.name, ${bookingId}, n.event_seq, ${id}, c.t, c.t from numbered n, clock c, outbox_sinks s returning 1)
    insert into outbox (inventory_id, id, booking_id, seq, name, payload, created_at, unsent, published_at)
    select ${inventoryId}, ${id}, ${bookingId}, n.event_seq, ${name}, ${tx.json(payload)}, c.t, q.sinks, case when q.sinks = 0 then c.t end
    from numbered n, clock c, (select count(*) as sinks from queued) q`
  if (written.count !== 1) throw new Error(`${name} tells of a booking that is not there: ${bookingId}`)
  return id
}
