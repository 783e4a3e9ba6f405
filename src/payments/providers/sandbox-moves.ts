// How the sandbox moves its money: one row an idempotency key, at once or, for a refund that was told to take its time, later.
import type { Sql, Tx } from '#database/connect.ts'
import type { MoveOrder, MoveOutcome } from './provider.ts'
import { queueMessage, type SandboxEvent, sandboxMessage } from './sandbox-callback.ts'
import { takeFaults } from './sandbox-faults.ts'
import { findSandboxPayment, type SandboxPayment } from './sandbox-payment.ts'
import { disputePayment } from './sandbox-session.ts'

export type MoveKind = 'CAPTURE' | 'VOID' | 'REFUND'
type Movement = { idempotencyKey: string; paymentId: string; amountMinor: number; fails: boolean }

const REFUND_TAKES_MS = 2_000

const MOVES = {
  CAPTURE: { from: 'AUTHORISED', to: 'CAPTURED', event: 'captured' },
  VOID: { from: 'AUTHORISED', to: 'VOIDED', event: 'voided' },
  REFUND: { from: 'CAPTURED', to: 'CAPTURED', event: 'refunded' },
} as const satisfies Record<
  MoveKind,
  { from: SandboxPayment['status']; to: SandboxPayment['status']; event: SandboxEvent }
>

/** The payment's row is locked first, so that two calls with one key cannot both find no movement. */
export async function moveMoney(tx: Tx, kind: MoveKind, order: MoveOrder): Promise<MoveOutcome> {
  const { providerPaymentId, amountMinor, currency, idempotencyKey } = order
  await tx`select 1 from sandbox_payments where id = ${providerPaymentId} for update`
  const payment = await findSandboxPayment(tx, providerPaymentId)
  if (!payment) return { outcome: 'REFUSED', reason: 'no such payment' }
  const [moved] = await tx<{ status: 'DONE' | 'PENDING' | 'FAILED' }[]>`
    select status from sandbox_movements where idempotency_key = ${idempotencyKey}`
  if (moved?.status === 'FAILED') return { outcome: 'FAILED', reason: 'the buyer’s bank sent it back' }
  if (moved) return { outcome: moved.status, reference: idempotencyKey }

  const { from, to, event } = MOVES[kind]
  if (payment.status !== from) return { outcome: 'REFUSED', reason: `the payment is ${payment.status}` }
  const limit = kind === 'REFUND' ? await refundable(tx, payment) : payment.amountMinor
  if (currency !== payment.currency || amountMinor > limit) return { outcome: 'REFUSED', reason: 'more than there is' }
  if (kind === 'REFUND') {
    const [slow] = await takeFaults(tx, payment.id, ['refund_pending', 'refund_fails'])
    if (slow) return takeOn(tx, order, slow === 'refund_fails')
  }
  await tx`
    insert into sandbox_movements (idempotency_key, payment_id, kind, amount_minor, moved_at)
    values (${idempotencyKey}, ${providerPaymentId}, ${kind}, ${amountMinor}, holdfast_now())`
  await tx`
    update sandbox_payments set status = ${to},
      captured_minor = captured_minor + ${kind === 'CAPTURE' ? amountMinor : 0}, refunded_minor = refunded_minor + ${kind === 'REFUND' ? amountMinor : 0}
    where id = ${providerPaymentId}`
  await queueMessage(tx, sandboxMessage(event, { ...payment, amountMinor }, idempotencyKey))
  if (kind === 'CAPTURE' && payment.faults.includes('disputed')) await disputePayment(tx, payment.id)
  return { outcome: 'DONE', reference: idempotencyKey }
}

// What is only taken on counts as gone already: two refunds of one payment cannot be more than was paid.
async function refundable(tx: Tx, { id, capturedMinor, refundedMinor }: SandboxPayment): Promise<number> {
  const [row] = await tx<{ minor: number }[]>`
    select coalesce(sum(amount_minor), 0)::bigint as minor from sandbox_movements where payment_id = ${id} and status = 'PENDING'`
  return capturedMinor - refundedMinor - (row?.minor ?? 0)
}

async function takeOn(tx: Tx, order: MoveOrder, fails: boolean): Promise<MoveOutcome> {
  await tx`
    insert into sandbox_movements (idempotency_key, payment_id, kind, amount_minor, moved_at, status, settles_at, fails)
    select ${order.idempotencyKey}, ${order.providerPaymentId}, 'REFUND', ${order.amountMinor}, t, 'PENDING',
      t + ${REFUND_TAKES_MS} * interval '1 ms', ${fails} from holdfast_now() t`
  return { outcome: 'PENDING', reference: order.idempotencyKey }
}

/** Ends the refunds whose time has come, well or not, and says so. Answers how many. */
export async function finishRefunds(sql: Sql): Promise<number> {
  return sql.begin(async (tx) => {
    const due = await tx<Movement[]>`
      select idempotency_key, payment_id, amount_minor, fails from sandbox_movements
      where status = 'PENDING' and settles_at <= (select holdfast_now() offset 0) for update skip locked`
    for (const { idempotencyKey, paymentId, amountMinor, fails } of due) {
      await tx`
        update sandbox_movements set status = ${fails ? 'FAILED' : 'DONE'}, moved_at = holdfast_now()
        where idempotency_key = ${idempotencyKey} and status = 'PENDING'`
      if (!fails)
        await tx`update sandbox_payments set refunded_minor = refunded_minor + ${amountMinor} where id = ${paymentId}`
      const payment = await findSandboxPayment(tx, paymentId)
      if (!payment) continue
      const event = fails ? 'refund_failed' : 'refunded'
      await queueMessage(tx, sandboxMessage(event, { ...payment, amountMinor }, idempotencyKey))
    }
    return due.length
  })
}
