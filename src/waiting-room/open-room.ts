// The opening: those who came before it are drawn, and the draw is written down for everybody to check.
import type { Sql } from '#database/connect.ts'
import { orderByDraw } from './draw.ts'
import type { LiveRoom } from './read-rooms.ts'
import type { RoomStore } from './room-store.ts'

/**
 * The store first: whoever joins from that moment stands behind the crowd, whatever another process still believes of the room. Any process may do it, and
 * again after a crash in between; the first order written is the one that counts. Rejects when the store is away: the room opens when it is back.
 */
export async function openRoom({ sql, store }: { sql: Sql; store: RoomStore }, room: LiveRoom): Promise<void> {
  const order = orderByDraw(room.seed, await store.open(room))
  await sql`
    update waiting_rooms set status = 'OPEN', opened_at = holdfast_now(), changed_at = holdfast_now(), drawn = ${order}::text[]
    where inventory_id = ${room.inventoryId} and round = ${room.round} and opened_at is null and status in ('PRE_QUEUE', 'CLOSED')`
}
