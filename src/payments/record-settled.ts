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
/** A refund that a bank sends back five times needs another way to its buyer. */
const TRIES_MAX = 5
const TRY_AGAIN_MS = 60_000
const PENDING_ASK_MS = 60_000

/** True when the debt is settled for good. A provider's no about an unpaid session is fine: whatever was paid in it comes as a message. */
export async function recordSettled(tx: Tx, debt: Settlement, outcome: MoveOutcome): Promise<boolean> {
  const { inventoryId } = debt
  await lockSale(tx, inventoryId)
  const payment = await findPayment(tx, inventoryId, debt.paymentId)
  if (!payment) throw new Error(`settlement ${debt.id} has no payment`)
  switch (outcome.outcome) {
    case 'DONE':
      return recordDone(tx, debt, payment, outcome.reference)
    case 'PENDING':
      return recordPending(tx, debt, outcome.reference)
    case 'FAILED':
      return recordFailedTry(tx, debt, outcome.reason)
    case 'REFUSED':
      if (debt.kind === 'EXPIRE_SESSION') return recordDone(tx, debt, payment, null, outcome.reason)
      return giveUp(tx, debt, outcome.reason, true)
  }
}

async function recordDone(
  tx: Tx,
  debt: Settlement,
  payment: Payment,
  reference: string | null,
  reason: string | null = null,
): Promise<boolean> {
  const { inventoryId, id } = debt
  // A refund that was done, failed after all and is done now was told the first time.
  const [before] = await tx<{ told: boolean }[]>`
    select done_at is not null as told from settlements where inventory_id = ${inventoryId} and id = ${id}`
  const moved = await tx`
    update settlements set status = 'DONE', done_at = holdfast_now(), provider_reference = ${reference}, last_error = ${reason},
      reference_pending = null
    where inventory_id = ${inventoryId} and id = ${id} and status = 'DUE' and tries = ${debt.tries}`
  if (moved.count === 0) return false
  if (debt.kind === 'CAPTURE') await recordCapture(tx, payment)
  if (debt.kind === 'VOID') await recordVoid(tx, payment)
  if (debt.kind === 'REFUND') await recordRefund(tx, payment, debt.amountMinor, before?.told ?? false)
  return true
}

// Nothing is wrong with it, so it does not count as an attempt.
async function recordPending(tx: Tx, debt: Settlement, reference: string): Promise<false> {
  await tx`
    update settlements set reference_pending = ${reference}, attempts = 0, next_attempt_at = holdfast_now() + ${PENDING_ASK_MS} * interval '1 ms'
    where inventory_id = ${debt.inventoryId} and id = ${debt.id} and status = 'DUE' and tries = ${debt.tries}`
  return false
}

// Taken on and come to nothing: the old key would only answer that again.
async function recordFailedTry(tx: Tx, debt: Settlement, reason: string): Promise<false> {
  if (debt.tries >= TRIES_MAX) return giveUp(tx, debt, reason, true)
  const pauseMs = TRY_AGAIN_MS * 2 ** (debt.tries - 1)
  await tx`
    update settlements set tries = tries + 1, attempts = 0, reference_pending = null, last_error = ${reason},
      next_attempt_at = holdfast_now() + ${pauseMs} * interval '1 ms'
    where inventory_id = ${debt.inventoryId} and id = ${debt.id} and status = 'DUE' and tries = ${debt.tries}`
  return false
}

/** Trouble on the way to the provider: later again, ever more rarely, with the same key. */
export async function recordFailure(tx: Tx, debt: Settlement, error: string): Promise<void> {
  if (debt.attempts >= ATTEMPTS_MAX) return void (await giveUp(tx, debt, error, false))
  const pauseMs = Math.min(BACKOFF_FIRST_MS * 2 ** (debt.attempts - 1), BACKOFF_MAX_MS)
  await tx`
    update settlements set last_error = ${error}, next_attempt_at = holdfast_now() + ${pauseMs} * interval '1 ms'
    where inventory_id = ${debt.inventoryId} and id = ${debt.id} and status = 'DUE'`
}

/** `refused`: the provider has said no, so nothing has moved; otherwise that is unknown, and a later try needs the same key. */
async function giveUp(tx: Tx, debt: Settlement, reason: string, refused: boolean): Promise<false> {
  const { inventoryId, id, paymentId, kind, amountMinor, currency } = debt
  const moved = await tx`
    update settlements set status = 'STUCK', last_error = ${reason}, refused = ${refused}
    where inventory_id = ${inventoryId} and id = ${id} and status = 'DUE'`
  if (moved.count === 0) return false
  const facts = {
    settlementId: formatSharded('debt', inventoryId, id),
    paymentId: formatSharded('pay', inventoryId, paymentId),
    kind,
    amountMinor,
    currency,
    reason,
  }
  await putOnWorklist(tx, { inventoryId, kind: 'SETTLEMENT_STUCK', facts })
  return false
}

async function recordVoid(tx: Tx, payment: Payment): Promise<void> {
  const moved = await tx`
    update payments set status = 'VOIDED', updated_at = holdfast_now()
    where inventory_id = ${payment.inventoryId} and id = ${payment.id} and status = 'AUTHORISED'`
  if (moved.count > 0) await tell(tx, payment, 'PaymentVoided', payment.amountMinor)
}

/** The inventory is locked and the settlement was written down as done. */
export async function recordRefund(tx: Tx, payment: Payment, amountMinor: number, told: boolean): Promise<void> {
  const moved = await tx`
    update payments set refunded_minor = refunded_minor + ${amountMinor}, updated_at = holdfast_now(),
      status = case when refunded_minor + ${amountMinor} = captured_minor then 'REFUNDED' else status end
    where inventory_id = ${payment.inventoryId} and id = ${payment.id} and status = 'CAPTURED'`
  if (moved.count === 0) throw new Error(`payment ${payment.id} is ${payment.status} and was refunded at its provider`)
  if (!told) await tell(tx, payment, 'PaymentRefunded', amountMinor)
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
