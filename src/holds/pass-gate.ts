// Asks the gate before the database is asked, and keeps it true afterwards: what was claimed and is not held, or held no longer, is given back.
import type { Sql } from '#database/connect.ts'
import type { Gate } from '#gate/gate.ts'
import type { PlaceOutcome, PlaceRequest } from '#inventory/seat-store.ts'
import { remainingMs } from './hold-time.ts'
import { seatsUnavailable } from './seats-unavailable.ts'

/** What `decide` answers. Throws SEATS_UNAVAILABLE without asking it when others are after these seats, and whatever it throws. */
export async function passGate(
  { sql, gate }: { sql: Sql; gate: Gate },
  request: PlaceRequest,
  decide: () => Promise<PlaceOutcome>,
): Promise<PlaceOutcome> {
  const { inventoryId, seats, customerId } = request
  const claim = await gate.claim(inventoryId, seats, customerId)
  if (claim.outcome === 'TAKEN' && !(await holdsOneOf(sql, request, claim.seats)))
    throw seatsUnavailable(claim.seats.map((code) => ({ code, reason: 'held' })))
  let outcome: PlaceOutcome | null = null
  try {
    outcome = await decide()
    return outcome
  } finally {
    // Nobody waits for it: the answer is known, and the claim would end by itself.
    const back = claimedInVain(outcome, seats, gate.claimTtlMs)
    if (back.length > 0) void gate.free(inventoryId, back, customerId)
  }
}

// A hold outlives its claim, so a stranger who asks in vain may be at the gate with the customer's own seats: their retry must not meet that no.
async function holdsOneOf(sql: Sql, { inventoryId, customerId }: PlaceRequest, seats: string[]): Promise<boolean> {
  const own = await sql`
    select 1 from holds where inventory_id = ${inventoryId} and customer_id = ${customerId} and status in ('HELD', 'CHECKED_OUT')
      and seat_codes && ${seats}::text[]`
  return own.count > 0
}

function claimedInVain(outcome: PlaceOutcome | null, seats: string[], claimTtlMs: number): string[] {
  if (outcome?.outcome !== 'HELD' && outcome?.outcome !== 'SAME') return seats
  // A hold that ends before the claim would (one that was there already, or that took over an end) must not be outlived by it.
  if (remainingMs(outcome.expiresAt, outcome.decidedAt) < claimTtlMs) return seats
  const replaced = outcome.outcome === 'HELD' ? (outcome.replacedSeats ?? []) : []
  return replaced.filter((seat) => !seats.includes(seat))
}
