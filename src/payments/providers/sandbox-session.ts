// What a buyer does on the sandbox's page: pays or declines, once, inside the session and nowhere else.
import { randomUUID } from 'node:crypto'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { queueMessage, type Signing, sandboxMessage } from './sandbox-callback.ts'
import type { MessageFault } from './sandbox-faults.ts'
import { findSandboxPayment, type SandboxPayment } from './sandbox-payment.ts'

/** `callbackAfterMs` delays the message on the database's clock: longer than the hold makes the money late. `fault` adds to what was planned. */
export type PayOrder = { fault?: MessageFault; callbackAfterMs?: number }

const TWICE_COPIES = 4
// Two messages that must not overtake each other; deliveries of one moment go out at once.
const APART_MS = 700
// Later than any hold lasts behind its session.
const LATE_MS = 1_800_000
const DISPUTED_AFTER_MS = 1_000

/** OPEN -> AUTHORISED (fault captured: CAPTURED). Paying again is the same success. Throws PAYMENT_NOT_OPEN {status}, NOT_FOUND. */
export async function paySession(sql: Sql, id: string, order: PayOrder = {}): Promise<SandboxPayment> {
  return sql.begin(async (tx) => {
    const before = await findSandboxPayment(tx, id)
    const faults = new Set([...(before?.faults ?? []), order.fault])
    const status = faults.has('captured') ? 'CAPTURED' : 'AUTHORISED'
    if (!(await leaveOpen(tx, id, status))) return alreadyOver(tx, id, ['AUTHORISED', 'CAPTURED'])
    const payment = await findSandboxPayment(tx, id)
    if (!payment) throw new Problem('NOT_FOUND')
    if (status === 'CAPTURED') await chargeAtOnce(tx, payment)
    await tellMerchant(tx, payment, faults, order.callbackAfterMs ?? (faults.has('late') ? LATE_MS : 0))
    return payment
  })
}

async function tellMerchant(tx: Tx, payment: SandboxPayment, faults: Set<string | undefined>, afterMs: number) {
  const first = faults.has('declined_first') || faults.has('out_of_order')
  const declinedAfterMs = faults.has('out_of_order') ? afterMs + APART_MS : 0
  if (first) await queueMessage(tx, sandboxMessage('declined', payment), { afterMs: declinedAfterMs })
  if (faults.has('never')) return
  const event = payment.status === 'CAPTURED' ? 'captured' : 'authorised'
  await queueMessage(tx, sandboxMessage(event, misreport(payment, faults)), {
    afterMs: faults.has('declined_first') ? afterMs + APART_MS : afterMs,
    copies: faults.has('twice') ? TWICE_COPIES : 1,
    signing: SIGNINGS.find((signing) => faults.has(signing)) ?? 'right',
  })
}

const SIGNINGS = ['forged', 'old_secret', 'stale'] as const satisfies Signing[]

/** OPEN -> DECLINED. Throws PAYMENT_NOT_OPEN {status}, NOT_FOUND. */
export async function declineSession(sql: Sql, id: string): Promise<SandboxPayment> {
  return sql.begin(async (tx) => {
    if (!(await leaveOpen(tx, id, 'DECLINED'))) return alreadyOver(tx, id, ['DECLINED'])
    const payment = await findSandboxPayment(tx, id)
    if (!payment) throw new Problem('NOT_FOUND')
    if (!payment.faults.includes('never')) await queueMessage(tx, sandboxMessage('declined', payment))
    return payment
  })
}

// The lock first and the clock in a statement after it: a session must not be paid on a time that was read while waiting.
async function leaveOpen(tx: Tx, id: string, status: SandboxPayment['status']): Promise<boolean> {
  await tx`select 1 from sandbox_payments where id = ${id} for update`
  const moved = await tx`
    update sandbox_payments set status = ${status}
    where id = ${id} and status = 'OPEN' and session_expires_at > (select holdfast_now() offset 0)`
  return moved.count === 1
}

async function alreadyOver(tx: Tx, id: string, same: SandboxPayment['status'][]): Promise<SandboxPayment> {
  const payment = await findSandboxPayment(tx, id)
  if (!payment) throw new Problem('NOT_FOUND')
  if (!same.includes(payment.status)) throw new Problem('PAYMENT_NOT_OPEN', { status: payment.status })
  return payment
}

async function chargeAtOnce(tx: Tx, { id, amountMinor, faults }: SandboxPayment): Promise<void> {
  await tx`
    insert into sandbox_movements (idempotency_key, payment_id, kind, amount_minor, moved_at)
    values (${randomUUID()}, ${id}, 'CAPTURE', ${amountMinor}, holdfast_now())`
  await tx`update sandbox_payments set captured_minor = ${amountMinor} where id = ${id}`
  if (faults.includes('disputed')) await disputePayment(tx, id)
}

/** The buyer has their bank ask for all of it back: money that is disputed, not moved. Throws NOT_FOUND, PAYMENT_NOT_OPEN. */
export async function disputePayment(tx: Tx, id: string): Promise<void> {
  const moved = await tx`
    update sandbox_payments set disputed_minor = captured_minor - refunded_minor
    where id = ${id} and status = 'CAPTURED' and captured_minor > refunded_minor`
  const payment = await findSandboxPayment(tx, id)
  if (!payment) throw new Problem('NOT_FOUND')
  if (moved.count === 0) throw new Problem('PAYMENT_NOT_OPEN', { status: payment.status })
  const about = { ...payment, amountMinor: payment.disputedMinor }
  await queueMessage(tx, sandboxMessage('disputed', about), { afterMs: DISPUTED_AFTER_MS })
}

function misreport(payment: SandboxPayment, faults: Set<string | undefined>): SandboxPayment {
  if (faults.has('wrong_amount')) return { ...payment, amountMinor: payment.amountMinor - 1 }
  if (faults.has('wrong_currency')) return { ...payment, currency: payment.currency === 'USD' ? 'EUR' : 'USD' }
  if (faults.has('unknown_payment')) return { ...payment, merchantReference: `pay_1_${'0'.repeat(32)}` }
  return payment
}
