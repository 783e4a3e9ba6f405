// Moves the money that is owed: claims what is due, calls the provider outside any transaction, writes down what came of it.
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import { askProvider } from './ask-provider.ts'
import { movementKey } from './movement-key.ts'
import type { SettlementKind } from './owe.ts'
import { findProvider, type MoveOrder, type MoveOutcome, type Provider, type Providers } from './providers/provider.ts'
import { recordFailure, recordSettled } from './record-settled.ts'

type Parts = {
  sql: Sql
  providers: Providers
  config: { settleIntervalMs: number; paymentProviderTimeoutMs: number }
  wake: (worker: string) => void
}

export type Settlement = {
  inventoryId: number
  id: string
  paymentId: string
  kind: SettlementKind
  amountMinor: number
  currency: string
  /** This one included. */
  attempts: number
  tries: number
  provider: string
  providerPaymentId: string | null
}

const DEBTS_AT_ONCE = 8
// Longer than a provider is waited for; a worker that died in between is followed by another, with the same idempotency key.
const LEASE_MS = 60_000

export function settleDebts(parts: Parts): Worker {
  return {
    name: 'settle',
    intervalMs: parts.config.settleIntervalMs,
    async run() {
      const settled = await settleDueDebts(parts)
      if (settled > 0) parts.wake('relay')
      return settled
    },
  }
}

/** Until nothing is due. Answers how many were settled for good. */
export async function settleDueDebts({
  sql,
  providers,
  config,
}: Pick<Parts, 'sql' | 'providers' | 'config'>): Promise<number> {
  for (let settled = 0; ; ) {
    const debts = await claim(sql)
    if (debts.length === 0) return settled
    const results = await Promise.all(
      debts.map((debt) => settle(sql, providers, config.paymentProviderTimeoutMs, debt)),
    )
    settled += results.filter((done) => done).length
  }
}

/** A refund waits until the money it gives back was taken. */
async function claim(sql: Sql): Promise<Settlement[]> {
  return sql<Settlement[]>`
    with clock as materialized (select holdfast_now() as t),
    due as (
      select s.inventory_id, s.id from clock c, settlements s join payments p on p.inventory_id = s.inventory_id and p.id = s.payment_id
      where s.status = 'DUE' and s.next_attempt_at <= c.t and (s.kind <> 'REFUND' or p.status = 'CAPTURED')
      order by s.next_attempt_at limit ${DEBTS_AT_ONCE} for update of s skip locked)
    update settlements s set attempts = s.attempts + 1, next_attempt_at = c.t + ${LEASE_MS} * interval '1 ms'
    from due d, clock c, payments p
    where s.inventory_id = d.inventory_id and s.id = d.id and p.inventory_id = s.inventory_id and p.id = s.payment_id
    returning s.inventory_id, s.id, s.payment_id, s.kind, s.amount_minor, s.currency, s.attempts, s.tries, p.provider, p.provider_payment_id`
}

async function settle(sql: Sql, providers: Providers, timeoutMs: number, debt: Settlement): Promise<boolean> {
  let outcome: MoveOutcome
  try {
    const provider = findProvider(providers, debt.provider)
    if (!provider || debt.providerPaymentId === null) throw new Error(`nobody to ask about ${debt.provider}`)
    const { providerPaymentId, amountMinor, currency } = debt
    const idempotencyKey = movementKey(debt.id, debt.tries)
    const order = { providerPaymentId, amountMinor, currency, idempotencyKey }
    outcome = await askProvider(timeoutMs, () => callProvider(provider, debt.kind, order))
  } catch (error) {
    await sql.begin((tx) => recordFailure(tx, debt, error instanceof Error ? error.message : String(error)))
    return false
  }
  return sql.begin((tx) => recordSettled(tx, debt, outcome))
}

function callProvider(provider: Provider, kind: SettlementKind, order: MoveOrder): Promise<MoveOutcome> {
  switch (kind) {
    case 'CAPTURE':
      return provider.capture(order)
    case 'VOID':
      return provider.void(order)
    case 'REFUND':
      return provider.refund(order)
    case 'EXPIRE_SESSION':
      return provider.expireSession(order)
  }
}
