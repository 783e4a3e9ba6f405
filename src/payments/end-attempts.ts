// Ends the payment session of a booking that nobody is to pay any more, here at once and at the provider by a worker.
import type { Tx } from '#database/connect.ts'
import { owe } from './owe.ts'
import { findOpenPayment } from './payment.ts'

/**
 * Part of a transaction that has locked the inventory. It is no promise that no money comes: a buyer may have paid a moment ago, and the message about
 * it is then judged as late money. A session the provider has not answered yet is ended by whoever records the answer.
 */
export async function endOpenAttempt(tx: Tx, inventoryId: number, bookingId: string): Promise<void> {
  const payment = await findOpenPayment(tx, inventoryId, bookingId)
  if (!payment) return
  await tx`
    update payments set status = 'EXPIRED', updated_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${payment.id} and status = 'CREATED'`
  if (payment.providerPaymentId === null) return
  await owe(tx, payment, { kind: 'EXPIRE_SESSION', amountMinor: 0, reason: 'ENDED' })
}
