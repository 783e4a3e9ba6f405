// Notes that an attempt to pay came to nothing. The booking stays PENDING: its hold lives until its own end, and the buyer can try again.
import { formatSharded } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import { append } from '#outbox/append.ts'
import type { Payment } from './payment.ts'

/** Only an open attempt can fail: after a success, and after the booking's end, such a message is old news and changes nothing. */
export async function noteEnd(tx: Tx, payment: Payment, status: 'FAILED' | 'EXPIRED'): Promise<'NOTED' | 'IGNORED'> {
  const { inventoryId, id, bookingId } = payment
  const moved = await tx`
    update payments set status = ${status}, updated_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${id} and status = 'CREATED'`
  if (moved.count === 0) return 'IGNORED'
  if (status === 'FAILED') {
    const payload = {
      bookingId: formatSharded('book', inventoryId, bookingId),
      paymentId: formatSharded('pay', inventoryId, id),
      amount: { amount: payment.amountMinor, currency: payment.currency },
    }
    await append(tx, { inventoryId, bookingId, name: 'PaymentFailed', payload })
  }
  return 'NOTED'
}
