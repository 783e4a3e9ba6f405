// Asks the provider about payments of which nothing was heard, or whose failure is only our own belief, and works the answer like a message.
import { lockSale } from '#bookings/lock-sale.ts'
import { formatSharded } from '#core/ids.ts'
import type { Worker } from '#core/workers.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { askProvider } from './ask-provider.ts'
import { noteEnd } from './note-end.ts'
import { findPayment, type Payment } from './payment.ts'
import { findProvider, type Provider, type ProviderPayment, type Providers } from './providers/provider.ts'
import { type LatePolicy, workCallback } from './receive-callback.ts'
import { putOnWorklist } from './worklist.ts'

export type LookUpParts = {
  sql: Sql
  providers: Providers
  config: LatePolicy & {
    reconcileIntervalMs: number
    reconcilePendingAfterMs: number
    paymentProviderTimeoutMs: number
  }
  wake: (worker: string) => void
}
type Looked = Payment & { looks: number; sessionOver: boolean }

const PAYMENTS_AT_ONCE = 100
const CALLS_AT_ONCE = 8
const AGAIN_FIRST_MS = 60_000
const AGAIN_MAX_MS = 3_600_000
/** A payment that the provider gave us and does not know: after so many looks a person is told. */
const UNKNOWN_LOOKS = 3

export function lookUpPayments(parts: LookUpParts): Worker {
  return {
    name: 'look-up-payments',
    intervalMs: parts.config.reconcileIntervalMs,
    async run() {
      const ended = await lookUpPending(parts)
      if (ended > 0) for (const worker of ['settle', 'relay']) parts.wake(worker)
      return ended
    },
  }
}

/**
 * A payment CREATED, FAILED or EXPIRED is asked about, ever more rarely, until the provider's word is final. Answers for how many it became so. Two
 * workers at once ask twice at most and write once.
 */
export async function lookUpPending(parts: LookUpParts): Promise<number> {
  const pending = await parts.sql<{ inventoryId: number; id: string }[]>`
    with clock as materialized (select holdfast_now() as t)
    select inventory_id, id from clock c, payments
    where final_at is null and status in ('CREATED', 'FAILED', 'EXPIRED')
      and created_at <= c.t - ${parts.config.reconcilePendingAfterMs} * interval '1 ms'
      and coalesce(looked_up_at <= c.t - least(${AGAIN_FIRST_MS} * 2 ^ least(looks, 20), ${AGAIN_MAX_MS}) * interval '1 ms', true)
    order by created_at limit ${PAYMENTS_AT_ONCE}`
  let ended = 0
  const lane = async () => {
    for (let next = pending.shift(); next; next = pending.shift()) {
      if (await lookUpPayment(parts, next.inventoryId, next.id)) ended += 1
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, lane))
  return ended
}

/** True when the provider's word is final now. Trouble on the way to it is nothing: it is asked again later. */
export async function lookUpPayment(parts: LookUpParts, inventoryId: number, id: string): Promise<boolean> {
  const { sql, providers, config } = parts
  const payment = await sql.begin((tx) => noteLook(tx, inventoryId, id))
  const provider = payment && findProvider(providers, payment.provider)
  if (!payment || !provider) return false
  let found: ProviderPayment | null
  try {
    found = await askProvider(config.paymentProviderTimeoutMs, () => lookUp(provider, payment))
  } catch {
    return false
  }
  return sql.begin((tx) => workAnswer(tx, payment, found, config))
}

async function noteLook(tx: Tx, inventoryId: number, id: string): Promise<Looked | null> {
  await lockSale(tx, inventoryId)
  const [row] = await tx<{ looks: number; sessionOver: boolean }[]>`
    with clock as (select holdfast_now() as t offset 0)
    update payments set looked_up_at = c.t, looks = looks + 1 from clock c
    where inventory_id = ${inventoryId} and id = ${id} and final_at is null and status in ('CREATED', 'FAILED', 'EXPIRED')
    returning looks, status <> 'CREATED' or session_expires_at <= c.t as session_over`
  const payment = row && (await findPayment(tx, inventoryId, id))
  return payment ? { ...payment, ...row } : null
}

// A page that is still open though nobody is to pay there is closed first, and asked about again: only then its answer is final.
async function lookUp(provider: Provider, payment: Looked): Promise<ProviderPayment | null> {
  const { inventoryId, id, providerPaymentId, looks, currency } = payment
  const name = { providerPaymentId, paymentId: formatSharded('pay', inventoryId, id) }
  const found = await provider.lookUp(name)
  if (found?.status !== 'OPEN' || !payment.sessionOver) return found
  const idempotencyKey = `${id}_end_${looks}`
  await provider.expireSession({
    ...{ providerPaymentId: found.providerPaymentId, amountMinor: 0, currency, idempotencyKey },
  })
  return provider.lookUp(name)
}

async function workAnswer(tx: Tx, seen: Looked, found: ProviderPayment | null, policy: LatePolicy): Promise<boolean> {
  const { inventoryId, id } = seen
  await lockSale(tx, inventoryId)
  const payment = await findPayment(tx, inventoryId, id)
  if (!payment) throw new Error(`payment ${id} is gone`)
  if (found?.status === 'OPEN') return false
  if (found === null) {
    if (payment.providerPaymentId !== null && seen.looks < UNKNOWN_LOOKS) return false
    if (payment.providerPaymentId !== null) await tellUnknown(tx, payment)
  }
  await workFound(tx, payment, found, policy)
  await tx`update payments set final_at = holdfast_now() where inventory_id = ${inventoryId} and id = ${id}`
  return true
}

/** Part of a transaction. What the provider has of this payment, worked like its message; a second time it changes nothing. */
export async function workFound(
  tx: Tx,
  payment: Payment,
  found: ProviderPayment | null,
  policy: LatePolicy,
): Promise<void> {
  const taken = found?.status === 'CAPTURED' && found.capturedMinor > found.refundedMinor
  if (!taken && found?.status !== 'AUTHORISED') {
    await noteEnd(tx, payment, found?.status === 'DECLINED' ? 'FAILED' : 'EXPIRED')
    return
  }
  const { providerPaymentId, amountMinor, currency } = found
  await workCallback(
    tx,
    payment.provider,
    {
      eventId: `look-up ${providerPaymentId} ${found.status}`,
      kind: taken ? 'CAPTURED' : 'AUTHORISED',
      ...{ providerPaymentId, paymentId: formatSharded('pay', payment.inventoryId, payment.id) },
      ...{ amountMinor, currency, movementKey: null },
    },
    policy,
  )
}

async function tellUnknown(tx: Tx, { inventoryId, id, provider, providerPaymentId }: Payment): Promise<void> {
  await putOnWorklist(tx, {
    inventoryId,
    kind: 'MISSING_AT_PROVIDER',
    facts: { provider, providerPaymentId, paymentId: formatSharded('pay', inventoryId, id) },
    finding: `MISSING_AT_PROVIDER ${provider} ${providerPaymentId}`,
  })
}
