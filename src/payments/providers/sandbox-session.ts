// What a buyer does on the sandbox's page: pays or declines, once, inside the session and nowhere else.
import { randomUUID } from 'node:crypto'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { queueMessage, sandboxMessage } from './sandbox-callback.ts'
import { findSandboxPayment, type SandboxPayment } from './sandbox-payment.ts'

/** What can go wrong between a provider and us, on demand. `captured`: charged at once, as by a provider without authorisation. */
export const SANDBOX_FAULTS = [
  'twice',
  'never',
  'forged',
  'captured',
  'wrong_amount',
  'wrong_currency',
  'unknown_payment',
] as const
export type SandboxFault = (typeof SANDBOX_FAULTS)[number]
/** `callbackAfterMs` delays the message on the database's clock: longer than the hold makes the money late. */
export type PayOrder = { fault?: SandboxFault; callbackAfterMs?: number }

const TWICE_COPIES = 4

/** OPEN -> AUTHORISED (fault captured: CAPTURED). Paying again is the same success. Throws PAYMENT_NOT_OPEN {status}, NOT_FOUND. */
export async function paySession(sql: Sql, id: string, order: PayOrder = {}): Promise<SandboxPayment> {
  const { fault, callbackAfterMs: afterMs = 0 } = order
  return sql.begin(async (tx) => {
    const status = fault === 'captured' ? 'CAPTURED' : 'AUTHORISED'
    if (!(await leaveOpen(tx, id, status))) return alreadyOver(tx, id, ['AUTHORISED', 'CAPTURED'])
    const payment = await findSandboxPayment(tx, id)
    if (!payment) throw new Problem('NOT_FOUND')
    if (status === 'CAPTURED') await chargeAtOnce(tx, payment)
    if (fault === 'never') return payment
    await queueMessage(
      tx,
      sandboxMessage(status === 'CAPTURED' ? 'captured' : 'authorised', misreport(payment, fault)),
      {
        afterMs,
        copies: fault === 'twice' ? TWICE_COPIES : 1,
        forged: fault === 'forged',
      },
    )
    return payment
  })
}

/** OPEN -> DECLINED. Throws PAYMENT_NOT_OPEN {status}, NOT_FOUND. */
export async function declineSession(sql: Sql, id: string): Promise<SandboxPayment> {
  return sql.begin(async (tx) => {
    if (!(await leaveOpen(tx, id, 'DECLINED'))) return alreadyOver(tx, id, ['DECLINED'])
    const payment = await findSandboxPayment(tx, id)
    if (!payment) throw new Problem('NOT_FOUND')
    await queueMessage(tx, sandboxMessage('declined', payment))
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

async function chargeAtOnce(tx: Tx, { id, amountMinor }: SandboxPayment): Promise<void> {
  await tx`
    insert into sandbox_movements (idempotency_key, payment_id, kind, amount_minor, moved_at)
    values (${randomUUID()}, ${id}, 'CAPTURE', ${amountMinor}, holdfast_now())`
  await tx`update sandbox_payments set captured_minor = ${amountMinor} where id = ${id}`
}

function misreport(payment: SandboxPayment, fault: SandboxFault | undefined): SandboxPayment {
  switch (fault) {
    case 'wrong_amount':
      return { ...payment, amountMinor: payment.amountMinor - 1 }
    case 'wrong_currency':
      return { ...payment, currency: payment.currency === 'USD' ? 'EUR' : 'USD' }
    case 'unknown_payment':
      return { ...payment, merchantReference: `pay_1_${'0'.repeat(32)}` }
    default:
      return payment
  }
}
