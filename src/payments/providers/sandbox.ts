// The sandbox as a provider: another company with its own books. It shares nothing with our payments but the orders it gets and the messages it sends.
import { randomBytes } from 'node:crypto'
import type { Sql, Tx } from '#database/connect.ts'
import type { MoveOrder, MoveOutcome, OpenedSession, Provider, ProviderPayment, SessionOrder } from './provider.ts'
import { queueMessage, readMessage, type SandboxEvent, sandboxMessage } from './sandbox-callback.ts'
import { sandboxDelivery } from './sandbox-delivery.ts'
import { findSandboxPayment, type SandboxPayment } from './sandbox-payment.ts'
import { sandboxRoutes } from './sandbox-routes.ts'
import { verifyWebhook } from '#core/standard-webhooks.ts'

export type SandboxParts = {
  sql: Sql
  config: { publicUrl: string }
  /** What messages are signed with: the first signs, all are accepted, so that a secret can be changed without a gap. */
  webhookSecrets: Buffer[]
  wake: (worker: string) => void
}

export function createSandbox({ sql, config, webhookSecrets, wake }: SandboxParts): Provider {
  const move = async (kind: keyof typeof MOVES, order: MoveOrder): Promise<MoveOutcome> => {
    const outcome = await sql.begin((tx) => moveMoney(tx, kind, order))
    wake('sandbox-delivery')
    return outcome
  }
  return {
    name: 'sandbox',
    routes: (app) => sandboxRoutes(app, { sql, wake }),
    workers: (workerSql, callbackUrl) => [sandboxDelivery({ sql: workerSql, webhookSecrets, callbackUrl })],
    open: (order) => openSession(sql, config.publicUrl, order),
    verify: (rawBody, headers, now) => readMessage(verifyWebhook(webhookSecrets, headers, rawBody, now), rawBody),
    lookUp: (id) => lookUp(sql, id),
    capture: (order) => move('CAPTURE', order),
    void: (order) => move('VOID', order),
    refund: (order) => move('REFUND', order),
    async expireSession({ providerPaymentId, idempotencyKey }) {
      const ended = await sql`
        update sandbox_payments set status = 'EXPIRED' where id = ${providerPaymentId} and status in ('OPEN', 'EXPIRED', 'DECLINED')`
      if (ended.count > 0) return { outcome: 'DONE', reference: idempotencyKey }
      return {
        outcome: 'REFUSED',
        reason: `the session is ${(await lookUp(sql, providerPaymentId))?.status ?? 'unknown'}`,
      }
    },
  }
}

// The id is in the page's address, and who knows the address can pay: it cannot be guessed.
async function openSession(sql: Sql, publicUrl: string, order: SessionOrder): Promise<OpenedSession> {
  await sql`
    insert into sandbox_payments (id, idempotency_key, merchant_reference, amount_minor, currency, description, return_url, status,
      session_expires_at, created_at)
    values (${`sbx_${randomBytes(16).toString('hex')}`}, ${order.idempotencyKey}, ${order.paymentId}, ${order.amountMinor}, ${order.currency},
      ${order.description}, ${order.returnUrl}, 'OPEN', ${order.expiresAt}, holdfast_now())
    on conflict (idempotency_key) do nothing`
  const [session] = await sql<{ id: string; amountMinor: number; currency: string }[]>`
    select id, amount_minor, currency from sandbox_payments where idempotency_key = ${order.idempotencyKey}`
  if (session?.amountMinor !== order.amountMinor || session.currency !== order.currency) {
    throw new Error('the sandbox was asked for another payment with the same idempotency key')
  }
  return { providerPaymentId: session.id, url: `${publicUrl}/sandbox/pay/${session.id}` }
}

async function lookUp(sql: Sql, id: string): Promise<ProviderPayment | null> {
  const payment = await findSandboxPayment(sql, id)
  if (!payment) return null
  const { status, amountMinor, currency, capturedMinor, refundedMinor } = payment
  return { status, amountMinor, currency, capturedMinor, refundedMinor }
}

const MOVES = {
  CAPTURE: { from: 'AUTHORISED', to: 'CAPTURED', event: 'captured' },
  VOID: { from: 'AUTHORISED', to: 'VOIDED', event: 'voided' },
  REFUND: { from: 'CAPTURED', to: 'CAPTURED', event: 'refunded' },
} as const satisfies Record<
  string,
  { from: SandboxPayment['status']; to: SandboxPayment['status']; event: SandboxEvent }
>

// The payment's row is locked first, so that two calls with one key cannot both find no movement.
async function moveMoney(tx: Tx, kind: keyof typeof MOVES, order: MoveOrder): Promise<MoveOutcome> {
  const { providerPaymentId, amountMinor, currency, idempotencyKey } = order
  const [payment] = await tx<SandboxPayment[]>`
    select id, merchant_reference, amount_minor, currency, status, captured_minor, refunded_minor
    from sandbox_payments where id = ${providerPaymentId} for update`
  if (!payment) return { outcome: 'REFUSED', reason: 'no such payment' }
  const moved = await tx`select 1 from sandbox_movements where idempotency_key = ${idempotencyKey}`
  if (moved.count > 0) return { outcome: 'DONE', reference: idempotencyKey }

  const { from, to, event } = MOVES[kind]
  if (payment.status !== from) return { outcome: 'REFUSED', reason: `the payment is ${payment.status}` }
  const limit = kind === 'REFUND' ? payment.capturedMinor - payment.refundedMinor : payment.amountMinor
  if (currency !== payment.currency || amountMinor > limit) return { outcome: 'REFUSED', reason: 'more than there is' }
  await tx`
    insert into sandbox_movements (idempotency_key, payment_id, kind, amount_minor, moved_at)
    values (${idempotencyKey}, ${providerPaymentId}, ${kind}, ${amountMinor}, holdfast_now())`
  await tx`
    update sandbox_payments set status = ${to},
      captured_minor = captured_minor + ${kind === 'CAPTURE' ? amountMinor : 0}, refunded_minor = refunded_minor + ${kind === 'REFUND' ? amountMinor : 0}
    where id = ${providerPaymentId}`
  await queueMessage(tx, sandboxMessage(event, { ...payment, amountMinor }, idempotencyKey))
  return { outcome: 'DONE', reference: idempotencyKey }
}
