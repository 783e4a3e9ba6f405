// The sandbox as a provider: another company with its own books. It shares nothing with our payments but the orders it gets and the messages it sends.
import { randomBytes } from 'node:crypto'
import { verifyWebhook } from '#core/standard-webhooks.ts'
import type { Sql } from '#database/connect.ts'
import type { MoveOrder, OpenedSession, PaymentName, Provider, ProviderPayment, SessionOrder } from './provider.ts'
import { sandboxAdminRoutes } from './sandbox-admin-routes.ts'
import { readMessage } from './sandbox-callback.ts'
import { sandboxDelivery } from './sandbox-delivery.ts'
import { drawFaults, type SandboxCall, sufferFaults, withFaults } from './sandbox-faults.ts'
import { type MoveKind, moveMoney } from './sandbox-moves.ts'
import { asProviderPayment, findSandboxPayment } from './sandbox-payment.ts'
import { sandboxRoutes } from './sandbox-routes.ts'

export type SandboxParts = {
  sql: Sql
  config: { publicUrl: string }
  /** What messages are signed with: the first signs, all are accepted, so that a secret can be changed without a gap. */
  webhookSecrets: Buffer[]
  wake: (worker: string) => void
}

const LISTED_AT_ONCE = 500

export function createSandbox({ sql, config, webhookSecrets, wake }: SandboxParts): Provider {
  const move = (kind: MoveKind, call: SandboxCall, order: MoveOrder) =>
    withFaults(sql, order.providerPaymentId, call, () => sql.begin((tx) => moveMoney(tx, kind, order))).finally(() =>
      wake('sandbox-delivery'),
    )
  const erred = new Set<string>()
  return {
    name: 'sandbox',
    routes(app) {
      sandboxRoutes(app, { sql, wake })
      sandboxAdminRoutes(app, { sql, wake })
    },
    workers: (workerSql, callbackUrl) => [sandboxDelivery({ sql: workerSql, webhookSecrets, callbackUrl })],
    open: (order) => openSession(sql, config.publicUrl, order, erred),
    verify: (rawBody, headers, now) => readMessage(verifyWebhook(webhookSecrets, headers, rawBody, now), rawBody),
    lookUp: (name) => lookUp(sql, name),
    list: (since, until) => list(sql, since, until),
    capture: (order) => move('CAPTURE', 'capture', order),
    void: (order) => move('VOID', 'void', order),
    refund: (order) => move('REFUND', 'refund', order),
    expireSession: (order) => withFaults(sql, order.providerPaymentId, 'expire', () => expireSession(sql, order)),
  }
}

// The id is in the page's address, and who knows the address can pay: it cannot be guessed. Before there is a payment its first trouble is remembered here.
async function openSession(sql: Sql, publicUrl: string, order: SessionOrder, erred: Set<string>) {
  const faults = await drawFaults(sql, order.faults ?? [])
  const due = faults.flatMap((fault) => (fault.endsWith(':open') ? (fault.split(':', 1)[0] ?? '') : []))
  const first = !erred.has(order.idempotencyKey)
  if (due.length > 0) erred.add(order.idempotencyKey)
  return sufferFaults(first ? due : [], () => writeSession(sql, publicUrl, order, faults))
}

async function writeSession(
  sql: Sql,
  publicUrl: string,
  order: SessionOrder,
  faults: string[],
): Promise<OpenedSession> {
  await sql`
    insert into sandbox_payments (id, idempotency_key, merchant_reference, amount_minor, currency, description, return_url, status,
      session_expires_at, created_at, faults)
    values (${`sbx_${randomBytes(16).toString('hex')}`}, ${order.idempotencyKey}, ${order.paymentId}, ${order.amountMinor}, ${order.currency},
      ${order.description}, ${order.returnUrl}, 'OPEN', ${order.expiresAt}, holdfast_now(), ${faults}::text[])
    on conflict (idempotency_key) do nothing`
  const [session] = await sql<{ id: string; amountMinor: number; currency: string }[]>`
    select id, amount_minor, currency from sandbox_payments where idempotency_key = ${order.idempotencyKey}`
  if (session?.amountMinor !== order.amountMinor || session.currency !== order.currency) {
    throw new Error('the sandbox was asked for another payment with the same idempotency key')
  }
  return { providerPaymentId: session.id, url: `${publicUrl}/sandbox/pay/${session.id}` }
}

async function lookUp(sql: Sql, { providerPaymentId, paymentId }: PaymentName): Promise<ProviderPayment | null> {
  const id = providerPaymentId ?? (await idByReference(sql, paymentId))
  if (id === null) return null
  return withFaults(sql, id, 'look_up', async () => {
    const payment = await findSandboxPayment(sql, id)
    return payment && asProviderPayment(payment)
  })
}

async function idByReference(sql: Sql, reference: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from sandbox_payments where merchant_reference = ${reference} order by created_at limit 1`
  return row?.id ?? null
}

// Page by page in the order of ids, so that a list of any length needs little memory on either side.
async function* list(sql: Sql, since: string, until: string): AsyncGenerator<ProviderPayment> {
  for (let after = ''; ; ) {
    const ids = await sql<{ id: string }[]>`
      select id from sandbox_payments where created_at >= ${since} and created_at < ${until} and id > ${after} order by id limit ${LISTED_AT_ONCE}`
    for (const { id } of ids) {
      const payment = await findSandboxPayment(sql, id)
      if (payment) yield asProviderPayment(payment)
    }
    if (ids.length < LISTED_AT_ONCE) return
    after = ids.at(-1)?.id ?? ''
  }
}

async function expireSession(sql: Sql, { providerPaymentId, idempotencyKey }: MoveOrder) {
  const ended = await sql`
    update sandbox_payments set status = 'EXPIRED' where id = ${providerPaymentId} and status in ('OPEN', 'EXPIRED', 'DECLINED')`
  if (ended.count > 0) return { outcome: 'DONE', reference: idempotencyKey } as const
  const payment = await findSandboxPayment(sql, providerPaymentId)
  return { outcome: 'REFUSED', reason: `the session is ${payment?.status ?? 'unknown'}` } as const
}
