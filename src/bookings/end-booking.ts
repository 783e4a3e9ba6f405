// Ends a booking that was never paid: its hold ran out, its money came too late, or its buyer gave it up.
import type { Tx } from '#database/connect.ts'
import { append } from '#outbox/append.ts'
import { returnPromotions } from '#promotions/return-promotions.ts'
import { type Booking, bookingFacts, readLines } from './booking.ts'

const EVENTS = { FAILED: 'BookingFailed', EXPIRED: 'BookingExpired', CANCELLED: 'BookingCancelled' } as const

/** Part of a transaction that has locked the inventory. False: it was not PENDING any more, somebody was first, and nothing was told. */
export async function endBooking(tx: Tx, booking: Booking, status: keyof typeof EVENTS): Promise<boolean> {
  const { inventoryId, id } = booking
  const moved = await tx`
    update bookings set status = ${status}, ended_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${id} and status = 'PENDING'`
  if (moved.count === 0) return false
  await returnPromotions(tx, inventoryId, id)
  const lines = await readLines(tx, inventoryId, id)
  await append(tx, { inventoryId, bookingId: id, name: EVENTS[status], payload: bookingFacts(booking, lines) })
  return true
}
