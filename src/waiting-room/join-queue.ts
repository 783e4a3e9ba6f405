// A visitor joins the queue of a show, or finds the place they have.
import { Problem } from '#core/problem.ts'
import { drawScore } from './draw.ts'
import { type QueueView, viewOf, viewWithoutPlace } from './queue-view.ts'
import { visitorOf } from './ticket.ts'
import type { WaitingRooms } from './waiting-rooms.ts'

const RETRY_AFTER_S = 5

/**
 * `first`: the place was made now. Where no room is on everybody is ADMITTED, with a ticket that says so. Throws NOT_FOUND without such a show, and
 * WAITING_ROOM_UNAVAILABLE while the store is away: nobody gets a place that could be lost or given twice.
 */
export async function joinQueue(
  rooms: WaitingRooms,
  inventoryId: number,
  customerId: string,
): Promise<{ first: boolean; view: QueueView }> {
  const room = rooms.room(inventoryId)
  const round = room?.round ?? 0
  const visitor = visitorOf(rooms.mac, inventoryId, round, customerId)
  if (!room) {
    const [inventory] = await rooms.sql`select from inventories where id = ${inventoryId}`
    if (!inventory) throw new Problem('NOT_FOUND')
    const ticket = { inventoryId, round, visitor, joinedUs: 0 }
    return { first: false, view: viewWithoutPlace(rooms.mac, ticket, 'ADMITTED') }
  }
  const place = await rooms.store.join(room, visitor, drawScore(room.seed, visitor)).catch(() => {
    throw new Problem('WAITING_ROOM_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S })
  })
  const ticket = { inventoryId, round, visitor, joinedUs: Math.max(0, place.score) }
  return { first: place.first, view: rooms.tell(visitor, place, viewOf(rooms.mac, room, ticket, place)) }
}
