// The booking a hold is paid under: made at the first checkout, found again at every later one.
import type { Booking } from '#bookings/booking.ts'
import { findBookingOfHold } from '#bookings/booking.ts'
import { type Contact, openBooking } from '#bookings/open-booking.ts'
import { newReference } from '#bookings/reference.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { Wishes } from '#promotions/promotion.ts'

type HoldToPay = { inventoryId: number; holdId: string; contact: Contact; wishes?: Wishes }

/**
 * The inventory is locked, `now` was read after it. The first time HELD -> CHECKED_OUT, with the hold's end moved, once, to where a payment session and
 * the buffer behind it fit. Answers a PENDING booking. Throws HOLD_EXPIRED, HOLD_RELEASED, ALREADY_BOOKED, NOT_FOUND.
 */
export async function bookingForHold(tx: Tx, order: HoldToPay, addMs: number, now: string): Promise<Booking> {
  const { inventoryId, holdId, contact, wishes = {} } = order
  const store = postgresStore(tx)
  // Sent together, run in this order: a hold that has its booking is not HELD any more, and checking it out changes nothing.
  const [booking, { outcome, status, expiresAt }, hold, reference] = await Promise.all([
    findBookingOfHold(tx, inventoryId, holdId),
    store.checkOut(inventoryId, holdId, addMs),
    store.readHold(inventoryId, holdId),
    newReference(tx),
  ])
  if (booking) return stillPayable(booking, now)
  if (outcome === 'NOT_FOUND') throw new Problem('NOT_FOUND')
  if (outcome === 'EXPIRED') throw new Problem('HOLD_EXPIRED')
  if (outcome === 'NOT_HELD' && status === 'RELEASED') throw new Problem('HOLD_RELEASED')
  if (outcome !== 'EXTENDED' || !hold || !expiresAt) throw new Error(`hold ${holdId} is ${status} without a booking`)
  return openBooking(tx, { inventoryId, reference, hold, contact, wishes, expiresAt, now })
}

function stillPayable(booking: Booking, now: string): Booking {
  switch (booking.status) {
    case 'PENDING':
      if (now >= booking.expiresAt) throw new Problem('HOLD_EXPIRED')
      return booking
    case 'CONFIRMED':
      throw new Problem('ALREADY_BOOKED')
    case 'CANCELLED':
      throw new Problem('HOLD_RELEASED')
    default:
      throw new Problem('HOLD_EXPIRED')
  }
}
