// How long a visitor has still to wait, from how fast the line has moved of late.
import type { Pace } from './room-store.ts'

/** Moves of this age weigh a third (1/e) of new ones. */
export const PACE_MEMORY_MS = 120_000
// Before anybody has finished: how long a visitor is taken to need. One such visitor is mixed into what is measured later, too.
const TURN_MS = 180_000

/**
 * Milliseconds until `ahead` others and then this visitor have been admitted. Places freed and the operator's rate move the line, and those who give up
 * shorten it: with a rate of admissions m and each one waiting giving up at a rate d, a place p shrinks as dp/dt = -m - d p, which ends after
 * ln(1 + d p / m) / d.
 */
export function estimateWaitMs(
  { ahead, free, pace }: { ahead: number; free: number; pace: Pace },
  { activeMax, admitPerMinute }: { activeMax: number; admitPerMinute: number | null },
): number {
  const limitPerMs = admitPerMinute === null ? Number.POSITIVE_INFINITY : admitPerMinute / 60_000
  const freedPerMs = (pace.freed + 1) / (pace.timeMs + TURN_MS / activeMax)
  const givenUpPerMs = pace.waitedMs > 0 ? pace.departed / pace.waitedMs : 0
  const place = ahead + 1
  return Math.max(
    timeToShrink(place, limitPerMs, givenUpPerMs),
    timeToShrink(Math.max(0, place - free), Math.min(freedPerMs, limitPerMs), givenUpPerMs),
  )
}

function timeToShrink(place: number, perMs: number, givenUpPerMs: number): number {
  if (place === 0 || perMs === Number.POSITIVE_INFINITY) return 0
  const share = (givenUpPerMs * place) / perMs
  return share < 1e-6 ? place / perMs : Math.log1p(share) / givenUpPerMs
}
