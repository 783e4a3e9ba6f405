// A visitor gives their place up, in the line or inside; who is next has it at once.
import { Problem } from '#core/problem.ts'
import type { Ticket } from './ticket.ts'
import type { WaitingRooms } from './waiting-rooms.ts'

const RETRY_AFTER_S = 5

/** Leaving twice, or a line that is over, is a success. Throws WAITING_ROOM_UNAVAILABLE while the store is away. */
export async function leaveQueue(rooms: WaitingRooms, { inventoryId, round, visitor }: Ticket): Promise<void> {
  const room = rooms.room(inventoryId)
  if (room?.round !== round) return
  await rooms.store
    .leave(room, [visitor])
    .then(() => rooms.store.move(room))
    .catch(() => {
      throw new Problem('WAITING_ROOM_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S })
    })
}
