// Sells the seats of a booking whose money is there: all of a live hold, or none.
import type { Tx } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { append } from '#outbox/append.ts'
import { type Booking, bookingFacts, readLines } from './booking.ts'
import { endBooking } from './end-booking.ts'

/**
 * Part of the payment's transaction, which has locked the inventory. PENDING -> CONFIRMED, or -> FAILED when the hold is over (LATE): a sale needs a
 * live hold, also when the seats are still free. `booking.status` must have been read under the lock and be PENDING.
 */
export async function confirmBooking(tx: Tx, booking: Booking): Promise<'CONFIRMED' | 'LATE'> {
  const { inventoryId, id } = booking
  // Sent together where one does not need the other's answer: others wait for this lock.
  const [{ outcome }, lines] = await Promise.all([
    postgresStore(tx).confirm(inventoryId, booking.holdId, id),
    readLines(tx, inventoryId, id),
  ])
  if (outcome === 'EXPIRED' || outcome === 'NOT_HELD') {
    await endBooking(tx, booking, 'FAILED')
    return 'LATE'
  }
  if (outcome !== 'BOOKED') throw new Error(`booking ${id} is PENDING, but its hold answers ${outcome}`)
  const [moved] = await Promise.all([
    tx`
    update bookings set status = 'CONFIRMED', confirmed_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${id} and status = 'PENDING'`.execute(),
    append(tx, { inventoryId, bookingId: id, name: 'BookingConfirmed', payload: bookingFacts(booking, lines) }),
  ])
  if (moved.count !== 1) throw new Error(`booking ${id} was PENDING under the lock and is not any more`)
  return 'CONFIRMED'
}
