// Works a provider's message: verified first, then everything it changes in one transaction with the note that it came.
//
// The inventory is locked before anything else, so callbacks, expiry and cancelling stand in one line and none can deadlock. The note goes with its
// transaction: when our work fails it is gone too, we answer 5xx, and the provider's next try is worked anew. A message that was understood is never
// refused, also when it changes nothing: its sender would only send it again.
import type { IncomingHttpHeaders } from 'node:http'
import { lockSale } from '#bookings/lock-sale.ts'
import { parseSharded, type ShardedId } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { acceptMoney } from './accept-money.ts'
import { movementOf } from './movement-key.ts'
import { noteEnd } from './note-end.ts'
import { findPayment, type Payment } from './payment.ts'
import type { CallbackFacts, Provider } from './providers/provider.ts'
import { askSoon, refundFailed } from './refund-failed.ts'
import { putOnWorklist, type WorklistKind } from './worklist.ts'

/**
 * CONFIRMED: this message sold the seats. LATE, SURPLUS: its money goes back. NOTED: it changed a payment and nothing else. IGNORED: it changed nothing.
 * DUPLICATE: worked before. WORKLIST: kept for a person.
 */
export type CallbackOutcome = 'CONFIRMED' | 'LATE' | 'SURPLUS' | 'NOTED' | 'IGNORED' | 'DUPLICATE' | 'WORKLIST'

/** What becomes of money that comes after its hold: see rescue-booking.ts. */
export type LatePolicy = { latePayment: 'refund' | 'rescue'; seatsPerCustomerMax: number }
type Parts = { sql: Sql; config: LatePolicy; wake: (worker: string) => void }
export type Message = { rawBody: Buffer; headers: IncomingHttpHeaders }

// The inbox's shard for messages about payments that are not ours.
const NOWHERE = 0

/** Throws SIGNATURE_INVALID and CALLBACK_UNREADABLE, with nothing kept; anything else thrown is our own failure. */
export async function receiveCallback(parts: Parts, provider: Provider, message: Message): Promise<CallbackOutcome> {
  const [clock] = await parts.sql<{ now: string }[]>`select holdfast_now() as now`
  const facts = provider.verify(message.rawBody, message.headers, clock?.now ?? '')
  const outcome = await parts.sql.begin((tx) => workCallback(tx, provider.name, facts, parts.config))
  for (const worker of ['settle', 'relay']) parts.wake(worker)
  return outcome
}

/** The transaction: what reconciliation finds out by asking is worked by it too. */
export async function workCallback(
  tx: Tx,
  provider: string,
  facts: CallbackFacts,
  policy: LatePolicy,
): Promise<CallbackOutcome> {
  const payment = await lockPayment(tx, provider, facts)
  const inventoryId = payment?.inventoryId ?? NOWHERE
  const noted = await tx`
    insert into payment_callbacks (inventory_id, provider, event_id, payment_id, kind, outcome, received_at)
    values (${inventoryId}, ${provider}, ${facts.eventId}, ${payment?.id ?? null}, ${facts.kind}, 'IGNORED', holdfast_now())
    on conflict (inventory_id, provider, event_id) do nothing`
  if (noted.count === 0) return 'DUPLICATE'

  const outcome = payment ? await judge(tx, provider, payment, facts, policy) : await unknownPayment(tx, facts)
  await tx`
    update payment_callbacks set outcome = ${outcome}
    where inventory_id = ${inventoryId} and provider = ${provider} and event_id = ${facts.eventId}`
  return outcome
}

/** State before judgement: a message is read against the payment as it is now, under the lock, whatever order messages came in. */
async function judge(
  tx: Tx,
  provider: string,
  payment: Payment,
  facts: CallbackFacts,
  policy: LatePolicy,
): Promise<CallbackOutcome> {
  const isOurs = payment.provider === provider
  if (!isOurs || (payment.providerPaymentId !== null && payment.providerPaymentId !== facts.providerPaymentId)) {
    return setAside(tx, 'PAYMENT_MISMATCH', payment, facts)
  }
  switch (facts.kind) {
    case 'AUTHORISED':
    case 'CAPTURED': {
      const exact = facts.amountMinor === payment.amountMinor && facts.currency === payment.currency
      return exact ? acceptMoney(tx, payment, facts, policy) : setAside(tx, 'AMOUNT_MISMATCH', payment, facts)
    }
    case 'FAILED':
    case 'EXPIRED':
      return noteEnd(tx, payment, facts.kind)
    case 'VOIDED':
    case 'REFUNDED':
      return knownMovement(tx, payment, facts)
    case 'REFUND_FAILED':
      return (await refundFailed(tx, payment, facts.movementKey)) ?? setAside(tx, 'UNKNOWN_REFUND', payment, facts)
    case 'DISPUTED':
      return setAside(tx, 'DISPUTE', payment, facts)
    case 'OTHER':
      return 'IGNORED'
  }
}

// Our own voids and refunds are recorded by whoever asked for them. What happened at the provider alone is nobody's booking: a person decides.
async function knownMovement(tx: Tx, payment: Payment, facts: CallbackFacts): Promise<CallbackOutcome> {
  const { inventoryId, id } = payment
  const { settlementId } = movementOf(facts.movementKey)
  const known = await tx`
    select 1 from settlements where inventory_id = ${inventoryId} and payment_id = ${id} and id::text = ${settlementId}`
  if (known.count === 0) {
    return setAside(tx, facts.kind === 'VOIDED' ? 'AUTHORISATION_LOST' : 'UNKNOWN_REFUND', payment, facts)
  }
  await askSoon(tx, inventoryId, settlementId)
  return 'IGNORED'
}

async function setAside(tx: Tx, kind: WorklistKind, payment: Payment, facts: CallbackFacts): Promise<CallbackOutcome> {
  const { inventoryId, provider } = payment
  // Reconciliation would find the same dispute again.
  const finding = kind === 'DISPUTE' ? { finding: `DISPUTE ${provider} ${facts.providerPaymentId}` } : {}
  await putOnWorklist(tx, { inventoryId, kind, facts: { ...facts, expectedMinor: payment.amountMinor }, ...finding })
  return 'WORKLIST'
}

async function unknownPayment(tx: Tx, facts: CallbackFacts): Promise<CallbackOutcome> {
  if (facts.kind === 'OTHER') return 'IGNORED'
  await putOnWorklist(tx, { inventoryId: null, kind: 'UNKNOWN_PAYMENT', facts: { ...facts } })
  return 'WORKLIST'
}

async function lockPayment(tx: Tx, provider: string, facts: CallbackFacts): Promise<Payment | null> {
  const found = facts.paymentId === null ? await byProviderId(tx, provider, facts) : readPaymentId(facts.paymentId)
  // Its id says where it would be; a payment that is not there locks nothing.
  if (!found || !(await findPayment(tx, found.inventoryId, found.uuid))) return null
  const [, payment] = await Promise.all([
    lockSale(tx, found.inventoryId),
    findPayment(tx, found.inventoryId, found.uuid),
  ])
  return payment
}

function readPaymentId(publicId: string): ShardedId | null {
  try {
    return parseSharded('pay', publicId)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

async function byProviderId(tx: Tx, provider: string, facts: CallbackFacts): Promise<ShardedId | null> {
  const [row] = await tx<ShardedId[]>`
    select inventory_id, id as uuid from payments where provider = ${provider} and provider_payment_id = ${facts.providerPaymentId} limit 1`
  return row ?? null
}
