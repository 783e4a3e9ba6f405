// Payments that are made as soon as the booking is: of a booking that costs nothing, and with money that is in the till already.
import type { Booking } from '#bookings/booking.ts'
import { confirmBooking } from '#bookings/confirm-booking.ts'
import { formatSharded, newUuid } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { append } from '#outbox/append.ts'
import { endOpenAttempt } from './end-attempts.ts'
import { findPayment, type Payment } from './payment.ts'

/** Stands where a provider's name stands when there was nothing to pay: no provider is asked about it, ever. */
export const NO_PROVIDER = 'none'

/**
 * Part of the checkout's transaction. A payment of 0 is there too, so that every confirmed booking has exactly one that pays for it. Nobody names money at
 * the counter, so it has our name. A page that was opened for this booking before is ended. Throws HOLD_EXPIRED.
 */
export async function payAtOnce(tx: Tx, booking: Booking, provider: string, now: string): Promise<Payment> {
  const { inventoryId, amountMinor, currency } = booking
  if ((await confirmBooking(tx, booking)) === 'LATE') throw new Problem('HOLD_EXPIRED')
  await endOpenAttempt(tx, inventoryId, booking.id)
  const id = newUuid()
  await tx`
    insert into payments (inventory_id, id, booking_id, provider, provider_payment_id, status, pays, amount_minor, captured_minor, currency,
      session_expires_at, created_at, updated_at)
    values (${inventoryId}, ${id}, ${booking.id}, ${provider}, ${provider === NO_PROVIDER ? null : id}, 'CAPTURED', true, ${amountMinor},
      ${amountMinor}, ${currency}, ${now}, ${now}, ${now})`
  if (amountMinor > 0) await tellTaken(tx, booking, id)
  const payment = await findPayment(tx, inventoryId, id)
  if (!payment) throw new Error('a payment that was just written is not there')
  return payment
}

async function tellTaken(
  tx: Tx,
  { inventoryId, id, amountMinor, currency }: Booking,
  paymentId: string,
): Promise<void> {
  const payload = {
    bookingId: formatSharded('book', inventoryId, id),
    paymentId: formatSharded('pay', inventoryId, paymentId),
    amount: { amount: amountMinor, currency },
  }
  await append(tx, { inventoryId, bookingId: id, name: 'PaymentCaptured', payload })
}
