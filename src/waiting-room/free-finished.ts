// A purchase that is made frees its buyer's place for the next one.
import type { Sql } from '#database/connect.ts'
import type { Room, RoomStore } from './room-store.ts'

type Finished = { visitor: string; admissionNo: number }

/** Freed in the store first: a process that dies in between leaves work that is done again, never a place that stays taken. Answers how many. */
export async function freeFinished({ sql, store }: { sql: Sql; store: RoomStore }, room: Room): Promise<number> {
  const finished = await sql<Finished[]>`
    select p.visitor, p.admission_no from admission_purchases p
    join holds h on h.inventory_id = p.inventory_id and h.id = p.hold_id
    where p.inventory_id = ${room.inventoryId} and p.round = ${room.round} and p.freed_at is null and h.status = 'BOOKED'
    limit 1000`
  if (finished.length === 0) return 0
  const visitors = finished.map(({ visitor }) => visitor)
  await store.leave(room, visitors)
  await sql`
    update admission_purchases set freed_at = holdfast_now()
    where inventory_id = ${room.inventoryId} and round = ${room.round} and freed_at is null and (visitor, admission_no) in (
      select * from unnest(${visitors}::text[], ${finished.map(({ admissionNo }) => admissionNo)}::bigint[]))`
  return finished.length
}
