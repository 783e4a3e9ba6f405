// Writes a fact down in the transaction it tells of; the relay tells it afterwards, in the booking's order.
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
    clock as (select holdfast_now() as t offset 0)
    insert into outbox (inventory_id, id, booking_id, seq, name, payload, created_at, next_attempt_at)
    select ${inventoryId}, ${id}, ${bookingId}, n.event_seq, ${name}, ${tx.json(payload)}, c.t, c.t from numbered n, clock c`
  if (written.count !== 1) throw new Error(`${name} tells of a booking that is not there: ${bookingId}`)
  return id
}
