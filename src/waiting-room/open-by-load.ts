// A room that opens by itself: when more people try to hold seats of one show than the operator wants to see at once.
import { randomBytes } from 'node:crypto'
import { ACTIVE_MAX_DEFAULT } from './change-room.ts'
import type { WaitingRooms } from './waiting-rooms.ts'

/** Hold attempts of each show since they were last looked at. */
export type AttemptCounts = Map<number, number>

// A process that saw less than this share of the threshold does not ask the store: with fewer processes than this it cannot matter.
const SHARE = 1 / 50

/** `perSecond` 0: never. The count of all processes is the store's, of the last whole second. */
export async function openByLoad(rooms: WaitingRooms, perSecond: number): Promise<void> {
  const seen = [...rooms.attempts]
  rooms.attempts.clear()
  if (perSecond === 0 || !rooms.shared) return
  for (const [inventoryId, attempts] of seen) {
    if (attempts < perSecond * SHARE || rooms.room(inventoryId)) continue
    const lastSecond = await rooms.store.countAttempts(inventoryId, attempts)
    if (lastSecond > perSecond) await openAutomatically(rooms, inventoryId)
  }
}

async function openAutomatically(rooms: WaitingRooms, inventoryId: number): Promise<void> {
  const opened = await rooms.sql`
    insert into waiting_rooms (inventory_id, status, round, active_max, seed, began_at, opened_at, automatic, changed_at)
    values (${inventoryId}, 'OPEN', 1, ${ACTIVE_MAX_DEFAULT}, ${randomBytes(32)}, holdfast_now(), holdfast_now(), true, holdfast_now())
    on conflict (inventory_id) do update set
      status = 'OPEN', round = waiting_rooms.round + 1, seed = excluded.seed, began_at = excluded.began_at, opened_at = excluded.opened_at, drawn = null,
      automatic = true, changed_at = excluded.changed_at
    where waiting_rooms.status = 'OFF'`
  if (opened.count === 0) return
  await rooms.refresh()
  const room = rooms.room(inventoryId)
  if (room) await rooms.store.begin(room)
}
