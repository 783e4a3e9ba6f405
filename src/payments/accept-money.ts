// Decides what money is for: it sells the booking's seats, or it goes back. The amount and the currency were compared before.
import { findBooking } from '#bookings/booking.ts'
import { confirmBooking } from '#bookings/confirm-booking.ts'
import type { Tx } from '#database/connect.ts'
import { endOpenAttempt } from './end-attempts.ts'
import { owe, oweBack } from './owe.ts'
import type { Payment } from './payment.ts'
import type { CallbackFacts } from './providers/provider.ts'
import type { LatePolicy } from './receive-callback.ts'
import { recordCapture } from './record-capture.ts'
import { rescueBooking } from './rescue-booking.ts'

/**
 * Part of the callback's transaction, which has locked the inventory. The first success of a payment decides, also after a failure or an expiry that we
 * noted: only the provider knows whether it took money. Later ones find the payment AUTHORISED or further and decide nothing.
 */
export async function acceptMoney(
  tx: Tx,
  before: Payment,
  facts: CallbackFacts,
  policy: LatePolicy,
): Promise<'CONFIRMED' | 'LATE' | 'SURPLUS' | 'NOTED' | 'IGNORED'> {
  const { inventoryId, id } = before
  const taken = facts.kind === 'CAPTURED'
  const status = taken ? 'CAPTURED' : 'AUTHORISED'
  // Adopts the provider's id when our own note of the opened session was lost.
  const [moved, booking] = await Promise.all([
    tx`
    update payments set status = ${status}, captured_minor = case when ${taken} then amount_minor else 0 end,
      provider_payment_id = ${facts.providerPaymentId}, updated_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${id} and status in ('CREATED', 'FAILED', 'EXPIRED')`.execute(),
    findBooking(tx, inventoryId, before.bookingId),
  ])
  if (moved.count === 0) return taken ? recordCapture(tx, before) : 'IGNORED'

  const payment: Payment = { ...before, status, capturedMinor: taken ? before.amountMinor : 0 }
  if (!booking) throw new Error(`payment ${id} has no booking`)
  const rescued = policy.latePayment === 'rescue' && (await rescueBooking(tx, booking, policy))
  if (!rescued && booking.status !== 'PENDING') {
    // Another payment was first, or the booking is over: it stays as it is.
    const surplus = booking.status === 'CONFIRMED'
    await oweBack(tx, payment, surplus ? 'SURPLUS' : 'LATE')
    return surplus ? 'SURPLUS' : 'LATE'
  }
  if (!rescued && (await confirmBooking(tx, booking)) === 'LATE') {
    await oweBack(tx, payment, 'LATE')
    await endOpenAttempt(tx, inventoryId, booking.id)
    return 'LATE'
  }
  await Promise.all([
    tx`update payments set pays = true where inventory_id = ${inventoryId} and id = ${id}`.execute(),
    taken ? null : owe(tx, payment, { kind: 'CAPTURE', amountMinor: payment.amountMinor, reason: 'CONFIRMED' }),
    // This was the second attempt's page, perhaps, while the first one is open in another tab.
    endOpenAttempt(tx, inventoryId, booking.id),
  ])
  return 'CONFIRMED'
}
