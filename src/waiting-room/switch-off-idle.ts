// A room that load opened goes away by itself when nobody has waited for a while.
import type { Sql } from '#database/connect.ts'
import type { LiveRoom } from './read-rooms.ts'

const IDLE_MS = 120_000

/** `idleSince` is this process's memory of when each room was first found empty. An operator who takes the room over keeps it. */
export async function switchOffIdle(
  sql: Sql,
  room: LiveRoom,
  count: { waiting: number },
  idleSince: Map<number, number>,
  idleMs: number = IDLE_MS,
): Promise<void> {
  const sinceMs = idleSince.get(room.inventoryId)
  if (count.waiting > 0) idleSince.delete(room.inventoryId)
  else if (sinceMs === undefined) idleSince.set(room.inventoryId, performance.now())
  else if (performance.now() - sinceMs >= idleMs) {
    idleSince.delete(room.inventoryId)
    await sql`
      update waiting_rooms set status = 'OFF', automatic = false, changed_at = holdfast_now()
      where inventory_id = ${room.inventoryId} and round = ${room.round} and automatic`
  }
}
