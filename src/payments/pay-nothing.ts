// A booking that costs nothing is paid as soon as it is made, without a provider.
import type { Booking } from '#bookings/booking.ts'
import { confirmBooking } from '#bookings/confirm-booking.ts'
import { newUuid } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { findPayment, type Payment } from './payment.ts'

/** Stands where a provider's name stands: no provider is asked about it, ever. */
export const NO_PROVIDER = 'none'

/** Part of the checkout's transaction. The payment of 0 is there so that every confirmed booking has exactly one that pays for it. */
export async function payNothing(tx: Tx, booking: Booking, now: string): Promise<Payment> {
  const { inventoryId } = booking
  if ((await confirmBooking(tx, booking)) === 'LATE') throw new Problem('HOLD_EXPIRED')
  const id = newUuid()
  await tx`
    insert into payments (inventory_id, id, booking_id, provider, status, pays, amount_minor, currency, session_expires_at, created_at, updated_at)
    values (${inventoryId}, ${id}, ${booking.id}, ${NO_PROVIDER}, 'CAPTURED', true, 0, ${booking.currency}, ${now}, ${now}, ${now})`
  const payment = await findPayment(tx, inventoryId, id)
  if (!payment) throw new Error('a payment that was just written is not there')
  return payment
}
