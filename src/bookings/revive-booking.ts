// A booking whose money came late gets all its seats again: the one way back from EXPIRED, taken only where the operator chose LATE_PAYMENT=rescue.
import type { Tx } from '#database/connect.ts'
import { append } from '#outbox/append.ts'
import { type Booking, bookingFacts, readLines } from './booking.ts'

/** Part of the payment's transaction, which has locked the inventory and sold the seats of `holdId`, a new hold, to this booking. */
export async function reviveBooking(tx: Tx, booking: Booking, holdId: string): Promise<void> {
  const { inventoryId, id } = booking
  const moved = await tx`
    with clock as (select holdfast_now() as t offset 0)
    update bookings set status = 'CONFIRMED', hold_id = ${holdId}, confirmed_at = c.t, ended_at = null,
      rescued_at = case when status = 'EXPIRED' then c.t end
    from clock c where inventory_id = ${inventoryId} and id = ${id} and status in ('PENDING', 'EXPIRED')`
  if (moved.count !== 1) throw new Error(`booking ${id} was ${booking.status} under the lock and is not any more`)
  const lines = await readLines(tx, inventoryId, id)
  await append(tx, { inventoryId, bookingId: id, name: 'BookingConfirmed', payload: bookingFacts(booking, lines) })
}
