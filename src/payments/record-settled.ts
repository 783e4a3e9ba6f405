// Writes down what became of a debt: done, tried in vain, or given up with a note on the worklist. A debt is never deleted.
import { lockSale } from '#bookings/lock-sale.ts'
import { formatSharded } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import { append } from '#outbox/append.ts'
import { findPayment, type Payment } from './payment.ts'
import type { MoveOutcome } from './providers/provider.ts'
import { recordCapture } from './record-capture.ts'
import type { Settlement } from './settle-debts.ts'
import { putOnWorklist } from './worklist.ts'

const BACKOFF_FIRST_MS = 1_000
const BACKOFF_MAX_MS = 300_000
/** About an hour of trying. Then a person has to look; the debt stays. */
export const ATTEMPTS_MAX = 20

/** True when the debt is settled for good. A provider's no about an unpaid session is fine: whatever was paid in it comes as a message. */
export async function recordSettled(tx: Tx, debt: Settlement, outcome: MoveOutcome): Promise<boolean> {
  const { inventoryId } = debt
  await lockSale(tx, inventoryId)
  const payment = await findPayment(tx, inventoryId, debt.paymentId)
  if (!payment) throw new Error(`settlement ${debt.id} has no payment`)
  if (outcome.outcome === 'REFUSED' && debt.kind !== 'EXPIRE_SESSION') {
    await giveUp(tx, debt, outcome.reason)
    return false
  }
  const [reference, reason] = outcome.outcome === 'DONE' ? [outcome.reference, null] : [null, outcome.reason]
  const moved = await tx`
    update settlements set status = 'DONE', done_at = holdfast_now(), provider_reference = ${reference}, last_error = ${reason}
    where inventory_id = ${inventoryId} and id = ${debt.id} and status = 'DUE'`
  if (moved.count === 0) return false
  if (debt.kind === 'CAPTURE') await recordCapture(tx, payment)
  if (debt.kind === 'VOID') await recordVoid(tx, payment)
  if (debt.kind === 'REFUND') await recordRefund(tx, payment, debt.amountMinor)
  return true
}

/** Trouble on the way to the provider: later again, ever more rarely, with the same key. */
export async function recordFailure(tx: Tx, debt: Settlement, error: string): Promise<void> {
  if (debt.attempts >= ATTEMPTS_MAX) return giveUp(tx, debt, error)
  const pauseMs = Math.min(BACKOFF_FIRST_MS * 2 ** (debt.attempts - 1), BACKOFF_MAX_MS)
  await tx`
    update settlements set last_error = ${error}, next_attempt_at = holdfast_now() + ${pauseMs} * interval '1 ms'
    where inventory_id = ${debt.inventoryId} and id = ${debt.id} and status = 'DUE'`
}

async function giveUp(tx: Tx, debt: Settlement, reason: string): Promise<void> {
  const { inventoryId, id, paymentId, kind, amountMinor, currency } = debt
  const moved = await tx`
    update settlements set status = 'STUCK', last_error = ${reason} where inventory_id = ${inventoryId} and id = ${id} and status = 'DUE'`
  if (moved.count === 0) return
  const facts = {
    settlementId: id,
    paymentId: formatSharded('pay', inventoryId, paymentId),
    kind,
    amountMinor,
    currency,
    reason,
  }
  await putOnWorklist(tx, { inventoryId, kind: 'SETTLEMENT_STUCK', facts })
}

async function recordVoid(tx: Tx, payment: Payment): Promise<void> {
  const moved = await tx`
    update payments set status = 'VOIDED', updated_at = holdfast_now()
    where inventory_id = ${payment.inventoryId} and id = ${payment.id} and status = 'AUTHORISED'`
  if (moved.count > 0) await tell(tx, payment, 'PaymentVoided', payment.amountMinor)
}

async function recordRefund(tx: Tx, payment: Payment, amountMinor: number): Promise<void> {
  const moved = await tx`
    update payments set refunded_minor = refunded_minor + ${amountMinor}, updated_at = holdfast_now(),
      status = case when refunded_minor + ${amountMinor} = captured_minor then 'REFUNDED' else status end
    where inventory_id = ${payment.inventoryId} and id = ${payment.id} and status = 'CAPTURED'`
  if (moved.count === 0) throw new Error(`payment ${payment.id} is ${payment.status} and was refunded at its provider`)
  await tell(tx, payment, 'PaymentRefunded', amountMinor)
}

async function tell(
  tx: Tx,
  payment: Payment,
  name: 'PaymentVoided' | 'PaymentRefunded',
  amount: number,
): Promise<void> {
  const { inventoryId, id, bookingId, currency } = payment
  const payload = {
    bookingId: formatSharded('book', inventoryId, bookingId),
    paymentId: formatSharded('pay', inventoryId, id),
    amount: { amount, currency },
  }
  await append(tx, { inventoryId, bookingId, name, payload })
}
