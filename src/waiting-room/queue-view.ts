// What a visitor is told: where they stand, when it will be their turn, and the pass once it is.
import { formatNumbered } from '#core/ids.ts'
import type { Mac } from '#identity/mac.ts'
import { estimateWaitMs } from './estimate-wait.ts'
import type { LiveRoom } from './read-rooms.ts'
import type { Place } from './room-store.ts'
import { type Ticket, writeAdmission, writeTicket } from './ticket.ts'

export type QueueStatus = 'PRE_QUEUE' | 'WAITING' | 'ADMITTED' | 'SOLD_OUT' | 'LEFT' | 'CLOSED'

export type QueueView = {
  ticket: string
  showtimeId: string
  status: QueueStatus
  /** The same word: the contract's table calls it so. */
  state: QueueStatus
  /** 1 is next; null while there is no line (before the draw, and after it is one's turn). */
  position: number | null
  ahead: number | null
  etaSeconds: number | null
  opensAt?: string
  message?: string
  seedHash?: string
  admission?: string
  admissionExpiresAt?: string
  heartbeatSeconds: number
}

/** How often a page should be heard of: six times within the minute after which a place is given away. */
export const HEARTBEAT_S = 10

export function viewOf(mac: Mac, room: LiveRoom, ticket: Ticket, place: Place): QueueView {
  const status = statusOf(room, place)
  const waiting = status === 'WAITING'
  const view = viewWithoutPlace(mac, ticket, status)
  if (waiting) {
    view.position = place.ahead + 1
    view.ahead = place.ahead
    view.etaSeconds = Math.ceil(estimateWaitMs(place, room) / 1000)
  }
  if (room.opensAt !== null) view.opensAt = room.opensAt
  if (room.message !== null) view.message = room.message
  if (status === 'PRE_QUEUE') view.seedHash = room.seedHash
  if (status === 'ADMITTED' && place.admission) {
    const { inventoryId, round, visitor } = ticket
    view.admission = writeAdmission(mac, { ...place.admission, inventoryId, round, visitor })
    view.admissionExpiresAt = Temporal.Instant.fromEpochMilliseconds(Math.floor(place.admission.endMs)).toString()
  }
  return view
}

/** For a show where nobody has to wait, and the ground of every other view. */
export function viewWithoutPlace(mac: Mac, ticket: Ticket, status: QueueStatus): QueueView {
  return {
    ticket: writeTicket(mac, ticket),
    showtimeId: formatNumbered('show', ticket.inventoryId),
    ...{ status, state: status, position: null, ahead: null, etaSeconds: null },
    heartbeatSeconds: HEARTBEAT_S,
  }
}

// Places are kept while nothing is left: seats that come back find the line as it was.
function statusOf({ status, selling }: LiveRoom, place: Place): QueueStatus {
  if (place.status === 'GONE') return status === 'CLOSED' ? 'CLOSED' : 'LEFT'
  if (!selling && status !== 'PRE_QUEUE') return 'SOLD_OUT'
  if (place.status === 'ADMITTED') return 'ADMITTED'
  return status === 'CLOSED' ? 'CLOSED' : place.status
}
