// What a buyer asks for, checked against the layout before anything else is looked at: each fault has its own code and names its seats.
import { Problem } from '#core/problem.ts'
import type { Layout } from './layout.ts'

export type SeatChoice = { seats: string[] } | { bestAvailable: { quantity: number; category?: string } }

/** As it comes in: exactly one of the two. */
export type ChoiceBody = { seats?: string[]; bestAvailable?: { quantity: number; category?: string } }

/**
 * NO_SEATS, DUPLICATE_SEAT, UNKNOWN_SEAT, TOO_MANY_SEATS {limit}, INVALID_REQUEST. Labels are data: `F5` and `f5` are different seats, and nothing is
 * trimmed or folded.
 */
export function checkChoice(layout: Layout, body: ChoiceBody, seatsPerHoldMax: number): SeatChoice {
  const { seats, bestAvailable } = body
  if ((seats === undefined) === (bestAvailable === undefined)) {
    throw new Problem('INVALID_REQUEST', { errors: [{ path: '/', message: 'give either seats or bestAvailable' }] })
  }
  if (bestAvailable !== undefined) {
    const { quantity, category } = bestAvailable
    if (quantity === 0) throw new Problem('NO_SEATS')
    if (quantity > seatsPerHoldMax) throw new Problem('TOO_MANY_SEATS', { limit: seatsPerHoldMax })
    if (category !== undefined && !layout.categories.includes(category)) {
      const message = `is no category of this screen; there are ${layout.categories.join(', ')}`
      throw new Problem('INVALID_REQUEST', { errors: [{ path: '/bestAvailable/category', message }] })
    }
    return { bestAvailable }
  }
  const named = seats ?? []
  checkNamedSeats(layout, named)
  if (named.length > seatsPerHoldMax) throw new Problem('TOO_MANY_SEATS', { limit: seatsPerHoldMax })
  return { seats: named }
}

/** NO_SEATS, DUPLICATE_SEAT, UNKNOWN_SEAT. */
export function checkNamedSeats(layout: Layout, named: string[]): void {
  if (named.length === 0) throw new Problem('NO_SEATS')
  const twice = named.filter((code, index) => named.indexOf(code) !== index)
  if (twice.length > 0) {
    throw new Problem('DUPLICATE_SEAT', { seats: [...new Set(twice)].map((code) => ({ code, reason: 'named_twice' })) })
  }
  const unknown = named.filter((code) => !layout.placeOf.has(code))
  if (unknown.length > 0)
    throw new Problem('UNKNOWN_SEAT', { seats: unknown.map((code) => ({ code, reason: 'unknown' })) })
}
