// Notes that reserved money was taken, whether our own call says so or the provider's message, whichever comes first.
import { formatSharded } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import { append } from '#outbox/append.ts'
import { owe } from './owe.ts'
import type { Payment } from './payment.ts'

/** The inventory is locked. IGNORED: it was noted before. */
export async function recordCapture(tx: Tx, payment: Payment): Promise<'NOTED' | 'IGNORED'> {
  const { inventoryId, id, bookingId, amountMinor, currency } = payment
  const moved = await tx`
    update payments set status = 'CAPTURED', captured_minor = amount_minor, updated_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${id} and status = 'AUTHORISED'`
  if (moved.count === 0) return 'IGNORED'
  await append(tx, {
    inventoryId,
    bookingId,
    name: 'PaymentCaptured',
    payload: {
      bookingId: formatSharded('book', inventoryId, bookingId),
      paymentId: formatSharded('pay', inventoryId, id),
      amount: { amount: amountMinor, currency },
    },
  })
  await tx`
    update settlements set status = 'DONE', done_at = holdfast_now()
    where inventory_id = ${inventoryId} and payment_id = ${id} and kind = 'CAPTURE' and status in ('DUE', 'STUCK')`
  await refundInsteadOfVoid(tx, payment)
  return 'NOTED'
}

// The provider took what we were about to let go: now it has to be paid back.
async function refundInsteadOfVoid(tx: Tx, payment: Payment): Promise<void> {
  const [voided] = await tx<{ reason: 'LATE' | 'SURPLUS' | 'CANCELLED' }[]>`
    update settlements set status = 'DROPPED', done_at = holdfast_now()
    where inventory_id = ${payment.inventoryId} and payment_id = ${payment.id} and kind = 'VOID' and status in ('DUE', 'STUCK')
    returning reason`
  if (voided) await owe(tx, payment, { kind: 'REFUND', amountMinor: payment.amountMinor, reason: voided.reason })
}
