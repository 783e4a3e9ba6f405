// Counts what is free in many inventories at once, in one grouped query: a page of showtimes costs one trip.
import type { Tx } from '#database/connect.ts'

export type Availability = { free: number; total: number; asOf: string }

/** A lapsed hold counts as free. Inventories that do not exist are missing from the answer. */
export async function countFreeSeats(sql: Tx, inventoryIds: number[]): Promise<Map<number, Availability>> {
  const rows = await sql<(Availability & { inventoryId: number })[]>`
    select s.inventory_id, n.t as as_of, count(*)::int as total,
      (count(*) filter (where s.status = 'AVAILABLE' or (s.status = 'HELD' and s.hold_expires_at <= n.t)))::int as free
    from (select holdfast_now() as t offset 0) n cross join seats s
    where s.inventory_id = any (${inventoryIds}::bigint[])
    group by s.inventory_id, n.t`
  return new Map(rows.map(({ inventoryId, free, total, asOf }) => [inventoryId, { free, total, asOf }]))
}
