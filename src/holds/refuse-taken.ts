// The cheapest no: what the seat board of this process surely knows, said before a price is worked out and before anybody else is asked.
import type { Metrics } from '#core/metrics.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import { seatsUnavailable } from './seats-unavailable.ts'

type Parts = { boards: Pick<SeatBoards, 'surelyTaken'>; metrics: Pick<Metrics, 'holds'> }
type Wish = { inventoryId: number; customerId: string; seats: string[] }

/** Throws SEATS_UNAVAILABLE. For trades to call before they price a wish; in doubt it says nothing, and placeHold decides. */
export function refuseTaken({ boards, metrics }: Parts, { inventoryId, customerId, seats }: Wish): void {
  const taken = boards.surelyTaken(inventoryId, customerId, seats)
  if (!taken) return
  metrics.holds.inc({ outcome: 'UNAVAILABLE_ON_BOARD' })
  throw seatsUnavailable(taken)
}
