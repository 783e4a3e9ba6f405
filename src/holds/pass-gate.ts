// Asks the gate before the database is asked, and keeps it true afterwards: what was claimed and is not held, or held no longer, is given back.
import type { Gate } from '#gate/gate.ts'
import type { PlaceOutcome, PlaceRequest } from '#inventory/seat-store.ts'
import { remainingMs } from './hold-time.ts'
import { seatsUnavailable } from './seats-unavailable.ts'

/** What `decide` answers. Throws SEATS_UNAVAILABLE without asking it when others are after these seats, and whatever it throws. */
export async function passGate(
  gate: Gate,
  { inventoryId, seats, customerId }: PlaceRequest,
  decide: () => Promise<PlaceOutcome>,
): Promise<PlaceOutcome> {
  const claim = await gate.claim(inventoryId, seats, customerId)
  if (claim.outcome === 'TAKEN') throw seatsUnavailable(claim.seats.map((code) => ({ code, reason: 'held' })))
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

function claimedInVain(outcome: PlaceOutcome | null, seats: string[], claimTtlMs: number): string[] {
  if (outcome?.outcome !== 'HELD' && outcome?.outcome !== 'SAME') return seats
  // A hold that ends before the claim would (one that was there already, or that took over an end) must not be outlived by it.
  if (remainingMs(outcome.expiresAt, outcome.decidedAt) < claimTtlMs) return seats
  const replaced = outcome.outcome === 'HELD' ? (outcome.replacedSeats ?? []) : []
  return replaced.filter((seat) => !seats.includes(seat))
}
