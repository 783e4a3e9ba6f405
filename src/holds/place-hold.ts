// Puts seats and quantities under a hold: one request to the combiner, its outcome said as the API says it.
import { formatSharded, newUuid } from '#core/ids.ts'
import type { Metrics } from '#core/metrics.ts'
import type { Money } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import type { Gate } from '#gate/gate.ts'
import { hashHoldToken, holdTokenOf } from '#identity/hold-token.ts'
import type { Secrets } from '#identity/secrets.ts'
import type { Combiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import type { PlaceOutcome, PlaceRequest, PoolQuantity } from '#inventory/seat-store.ts'
import type { Quote } from '#pricing/quote.ts'
import { remainingMs } from './hold-time.ts'
import { passGate } from './pass-gate.ts'
import { seatsUnavailable } from './seats-unavailable.ts'

export type HoldOrder = {
  inventoryId: number
  customerId: string
  /** Distinct, and checked against the layout before. */
  seats: string[]
  pools?: PoolQuantity[]
  /** Frozen in the hold and honoured at confirm. */
  quote: Quote
  /** What the customer may have in this inventory, holds and bookings together; null: no limit. */
  unitsMax: number | null
}

export type PlacedHold = {
  holdId: string
  holdToken: string
  seats: string[]
  amount: Money
  expiresAt: string
  remainingMs: number
  /** The customer held exactly this already; the hold is as it was, its end unchanged. */
  repeated: boolean
}

export type PlaceHoldParts = {
  sql: Sql
  boards: Pick<SeatBoards, 'refused' | 'changed'>
  gate: Gate
  combiner: Combiner
  secrets: Pick<Secrets, 'holdToken'>
  config: { holdTtlMs: number; holdLifeMaxMs: number }
  metrics: Pick<Metrics, 'holds'>
}

/**
 * All or nothing. Throws SEATS_UNAVAILABLE (each seat with its reason), UNKNOWN_SEAT, CUSTOMER_SEAT_LIMIT, SALE_CLOSED, SALE_NOT_OPEN, NOT_FOUND,
 * OVERLOADED. The customer's own earlier hold here, if not checked out, is released in the same transaction.
 */
export async function placeHold(parts: PlaceHoldParts, order: HoldOrder): Promise<PlacedHold> {
  const { combiner, secrets, config, metrics } = parts
  const { inventoryId, quote } = order
  const newHoldId = newUuid()
  const newToken = holdTokenOf(secrets.holdToken, newHoldId)
  const request: PlaceRequest = {
    inventoryId,
    holdId: newHoldId,
    customerId: order.customerId,
    tokenHash: hashHoldToken(newToken),
    ttlMs: config.holdTtlMs,
    lifeMs: config.holdLifeMaxMs,
    seats: order.seats,
    ...(order.pools ? { pools: order.pools } : {}),
    amountMinor: quote.totalMinor,
    currency: quote.currency,
    quote,
    ...(order.unitsMax === null ? {} : { unitsMax: order.unitsMax }),
  }
  const outcome = await passGate(parts, request, () => combiner.place(request))
  metrics.holds.inc({ outcome: outcome.outcome })
  if (outcome.outcome === 'HELD') parts.boards.changed(inventoryId)
  if (outcome.outcome === 'UNAVAILABLE') parts.boards.refused(inventoryId)
  if (outcome.outcome !== 'HELD' && outcome.outcome !== 'SAME') throw refusal(outcome)

  const { holdId, expiresAt, decidedAt } = outcome
  const repeated = outcome.outcome === 'SAME'
  // The price may have changed since; what was frozen then is what they hold.
  const earlier = repeated ? await postgresStore(parts.sql).readHold(inventoryId, holdId) : null
  return {
    holdId: formatSharded('hold', inventoryId, holdId),
    holdToken: repeated ? holdTokenOf(secrets.holdToken, holdId) : newToken,
    seats: earlier?.seats ?? order.seats,
    amount: {
      amount: earlier?.amountMinor ?? quote.totalMinor,
      currency: earlier?.currency ?? quote.currency,
    },
    expiresAt,
    remainingMs: remainingMs(expiresAt, decidedAt),
    repeated,
  }
}

function refusal(outcome: PlaceOutcome): Problem {
  switch (outcome.outcome) {
    case 'UNAVAILABLE':
      return seatsUnavailable(outcome.blocking)
    case 'LIMIT':
      return new Problem('CUSTOMER_SEAT_LIMIT', { limit: outcome.unitsMax, have: outcome.countedUnits })
    case 'CLOSED':
      return new Problem('SALE_CLOSED')
    case 'NOT_OPEN':
      return new Problem('SALE_NOT_OPEN')
    case 'NOT_FOUND':
      return new Problem('NOT_FOUND')
    default:
      throw new Error(`the combiner answered ${outcome.outcome}`)
  }
}
