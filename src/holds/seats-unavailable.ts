// Says which seats stood in the way, and whether it is worth asking again: the same sentence whoever noticed it.
import { Problem } from '#core/problem.ts'
import type { Blocking } from '#inventory/seat-store.ts'

/** SEATS_UNAVAILABLE, or UNKNOWN_SEAT when none of them is there at all. */
export function seatsUnavailable(seats: Blocking[]): Problem {
  if (seats.every(({ reason }) => reason === 'unknown')) return new Problem('UNKNOWN_SEAT', { seats })
  if (seats.every(({ reason }) => reason === 'held'))
    return new Problem('SEATS_UNAVAILABLE', {
      detail: 'Others hold these seats at this moment; they may come back.',
      seats,
      retryable: true,
    })
  return new Problem('SEATS_UNAVAILABLE', { seats })
}
