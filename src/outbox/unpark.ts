// What a person can do about an event that a sink would not take: look at it, let it try again, or let it go so that the booking's later ones leave.
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import type { EventName } from './event.ts'
import { noteDelivered } from './note-outcome.ts'

export type ParkedDelivery = {
  sink: string
  eventId: string
  inventoryId: number
  bookingId: string
  seq: number
  name: EventName
  attempts: number
  lastError: string
  parkedAt: string
  /** Events of the same booking that wait behind it. */
  waiting: number
}
export type ParkedKey = Pick<ParkedDelivery, 'sink' | 'inventoryId' | 'eventId'>

/** The longest parked first; `after` is where the page before ended. */
export async function listParked(
  tx: Tx,
  page: { after: [string, string] | null; limit: number },
): Promise<ParkedDelivery[]> {
  const [parkedAt = null, eventId = null] = page.after ?? []
  return tx<ParkedDelivery[]>`
    select d.sink, d.event_id, d.inventory_id, d.booking_id, d.seq, o.name, d.attempts, d.last_error, d.parked_at,
      (select count(*)::int from outbox_deliveries b where b.inventory_id = d.inventory_id and b.booking_id = d.booking_id and b.sink = d.sink
        and b.seq > d.seq) as waiting
    from outbox_deliveries d join outbox o on o.inventory_id = d.inventory_id and o.id = d.event_id
    where d.parked_at is not null and (${parkedAt}::timestamptz is null or (d.parked_at, d.event_id) > (${parkedAt}, ${eventId}::uuid))
    order by d.parked_at, d.event_id limit ${page.limit}`
}

/** Throws NOT_FOUND when there is none. */
export async function findParked(tx: Tx, sink: string, eventId: string): Promise<ParkedKey> {
  const [row] = await tx<ParkedKey[]>`
    select sink, inventory_id, event_id from outbox_deliveries where sink = ${sink} and event_id = ${eventId} and parked_at is not null`
  if (!row) throw new Problem('NOT_FOUND')
  return row
}

/** From the beginning, with all its tries. Throws NOT_FOUND when it is not parked. */
export async function unpark(sql: Sql, { sink, inventoryId, eventId }: ParkedKey): Promise<void> {
  const unparked = await sql`
    update outbox_deliveries set parked_at = null, attempts = 0, next_attempt_at = holdfast_now()
    where sink = ${sink} and inventory_id = ${inventoryId} and event_id = ${eventId} and parked_at is not null`
  if (unparked.count === 0) throw new Problem('NOT_FOUND')
}

/** The sink is never told this one; a gap in the numbers it sees says so. Throws NOT_FOUND when it is not parked. */
export async function letGo(sql: Sql, { sink, inventoryId, eventId }: ParkedKey): Promise<void> {
  const [parked] = await sql`
    select from outbox_deliveries
    where sink = ${sink} and inventory_id = ${inventoryId} and event_id = ${eventId} and parked_at is not null`
  if (!parked) throw new Problem('NOT_FOUND')
  await noteDelivered(sql, sink, [{ inventoryId, id: eventId }])
}
