// Gives points for what was paid and takes them back for what was refunded: a consumer of the outbox.
//
// An event only says that something changed; how many points a booking is worth is worked out from its money as it is, and the difference to its rows
// is the new row. So events may come twice, late or in any order, and the sum is right: points of (paid - refunded), never taken back twice, never
// below zero. Only the payment that pays for the booking counts: a late or second one went back whole and was nobody's purchase.
import type { Sql, Tx } from '#database/connect.ts'
import type { OutboxEvent } from '#outbox/event.ts'
import type { Consumer } from '#outbox/sink.ts'
import { pointsOf } from './points.ts'

type Config = { loyaltyPointsPerUnit: number }
type Standing = { customerId: string; currency: string; paidMinor: number; points: number }

/** None where points are switched off: what was given stays. */
export function loyaltyConsumers({ sql, config }: { sql: Sql; config: Config }): Consumer[] {
  if (config.loyaltyPointsPerUnit === 0) return []
  return [
    {
      name: 'loyalty',
      // A provider that charges at once says so with the confirmation; one that authorises first, with the capture.
      wants: ['BookingConfirmed', 'PaymentCaptured', 'PaymentRefunded'],
      consume: (event) => keepLedger(sql, event, config.loyaltyPointsPerUnit),
    },
  ]
}

export async function keepLedger(
  sql: Sql,
  event: Pick<OutboxEvent, 'id' | 'inventoryId' | 'bookingId' | 'name'>,
  perUnit: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    // Payments only change under this lock, and two deliveries at once must not both see the same difference.
    await tx`select 1 from inventories where id = ${event.inventoryId} for update`
    const standing = await readStanding(tx, event)
    if (!standing) return
    const worth = pointsOf(standing.paidMinor, standing.currency, perUnit)
    // A refund gives nothing, also when the rate was raised since the booking.
    const due = event.name === 'PaymentRefunded' ? Math.min(worth, standing.points) : worth
    const points = due - standing.points
    if (points === 0) return
    await tx`
      insert into loyalty_entries (inventory_id, event_id, booking_id, customer_id, reason, points, created_at)
      values (${event.inventoryId}, ${event.id}, ${event.bookingId}, ${standing.customerId}, ${points > 0 ? 'PAID' : 'REFUNDED'}, ${points},
        holdfast_now())
      on conflict (inventory_id, event_id) do nothing`
  })
}

async function readStanding(
  tx: Tx,
  { inventoryId, bookingId }: Pick<OutboxEvent, 'inventoryId' | 'bookingId'>,
): Promise<Standing | null> {
  const [row] = await tx<Standing[]>`
    select b.customer_id, b.currency,
      (select coalesce(sum(p.captured_minor - p.refunded_minor), 0)::bigint from payments p
        where p.inventory_id = b.inventory_id and p.booking_id = b.id and p.pays) as paid_minor,
      (select coalesce(sum(e.points), 0)::bigint from loyalty_entries e
        where e.inventory_id = b.inventory_id and e.booking_id = b.id) as points
    from bookings b where b.inventory_id = ${inventoryId} and b.id = ${bookingId}`
  return row ?? null
}
