// A visitor's sign of life: it keeps their place, and the answer says where they stand.
import { Problem } from '#core/problem.ts'
import { drawScore } from './draw.ts'
import { type QueueView, viewOf, viewWithoutPlace } from './queue-view.ts'
import { readAdmission, readTicket, type Ticket, visitorOf } from './ticket.ts'
import type { WaitingRooms } from './waiting-rooms.ts'

const RETRY_AFTER_S = 5

/** Throws NOT_FOUND: no ticket of ours, or another customer's. */
export function findOwnTicket(rooms: WaitingRooms, text: string, customerId: string): Ticket {
  const ticket = readTicket(rooms.mac, text)
  if (!ticket || ticket.visitor !== visitorOf(rooms.mac, ticket.inventoryId, ticket.round, customerId))
    throw new Problem('NOT_FOUND')
  return ticket
}

/**
 * `pass`: the admission the visitor has, if they sent it; it helps a store that lost its memory. While the store is away the answer is what this process
 * said last; throws WAITING_ROOM_UNAVAILABLE where that is nothing, or a pass that is over by now.
 */
export async function visitQueue(rooms: WaitingRooms, ticket: Ticket, pass: string | null): Promise<QueueView> {
  const room = rooms.room(ticket.inventoryId)
  if (!room) return viewWithoutPlace(rooms.mac, ticket, 'ADMITTED')
  // A ticket of an earlier round: that line is over, and this one is joined anew.
  if (ticket.round !== room.round) return viewWithoutPlace(rooms.mac, ticket, 'LEFT')

  const { visitor, joinedUs } = ticket
  const told = rooms.lastTold(visitor)
  const sent = pass === null ? null : readAdmission(rooms.mac, pass)
  const admission = sent?.visitor === visitor ? sent : (told?.admission ?? null)
  const score = joinedUs > 0 ? joinedUs : drawScore(room.seed, visitor)
  const place = await rooms.store.visit(room, visitor, { score, admission }).catch(() => null)
  if (place) return rooms.tell(visitor, place, viewOf(rooms.mac, room, ticket, place))
  if (told && (told.admission === null || !rooms.isOver(told.admission.untilMs))) return told.view
  throw new Problem('WAITING_ROOM_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S })
}
