// What the seats of a showtime are at this moment, one letter a seat, from the database itself: what a hold is chosen by. The map shows the board instead.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

export type SeatLetters = {
  /** In the order of the seat codes as bytes (`layout.byCode`). A lapsed hold counts as available. */
  letters: string
  /** Seats of this customer's hold that a new one would replace (it is not being paid yet). */
  replaceableSeats: string[]
}

/** All seen by one statement, 0.3 ms for 300 seats. NOT_FOUND when there is no such inventory. */
export async function readSeatLetters(sql: Tx, inventoryId: number, customerId: string | null): Promise<SeatLetters> {
  const [row] = await sql<SeatLetters[]>`
    select coalesce(o.seats, '{}') as replaceable_seats,
      (select string_agg(case s.status when 'AVAILABLE' then 'A' when 'BOOKED' then 'B' when 'BLOCKED' then 'X'
          else case when s.hold_expires_at <= n.t then 'A' else 'H' end end, '' order by s.seat_code collate "C")
        from seats s where s.inventory_id = i.id) as letters
    from (select holdfast_now() as t offset 0) n
    cross join inventories i
    cross join lateral (
      select array_agg(code order by code) as seats from holds h cross join lateral unnest(h.seat_codes) code
      where h.inventory_id = i.id and h.customer_id = ${customerId} and h.status = 'HELD' and h.expires_at > n.t) o
    where i.id = ${inventoryId}`
  if (!row) throw new Problem('NOT_FOUND')
  return row
}
