// The reference: the textbook design, written well. One transaction a hold: lock the seat rows in order, update them on condition, compare the
// count, write the hold, commit. Same tables, same indexes, same payload, same durability; prepared statements; a pool of 10.
import type { Sql } from '#database/connect.ts'
import type { PlaceRequest } from '#inventory/seat-store.ts'

class SeatsTaken extends Error {}

/** True: held. False: one of the seats is not free; nothing is written. */
export async function textbookHold(sql: Sql, request: PlaceRequest): Promise<boolean> {
  const { inventoryId, holdId, seats, ttlMs } = request
  try {
    await sql.begin(async (tx) => {
      const rows = await tx<{ free: boolean }[]>`
        select status = 'AVAILABLE' or (status = 'HELD' and hold_expires_at <= clock_timestamp()) as free
        from seats where inventory_id = ${inventoryId} and seat_code = any (${seats}::text[])
        order by seat_code for update`
      if (rows.length !== seats.length || rows.some(({ free }) => !free)) throw new SeatsTaken()
      const expiry = new Date(Date.now() + ttlMs).toISOString()
      const taken = await tx`
        update seats set status = 'HELD', hold_id = ${holdId}, hold_expires_at = ${expiry}
        where inventory_id = ${inventoryId} and seat_code = any (${seats}::text[])
          and (status = 'AVAILABLE' or (status = 'HELD' and hold_expires_at <= clock_timestamp()))`
      if (taken.count !== seats.length) throw new SeatsTaken()
      await tx`
        insert into holds (inventory_id, id, customer_id, token_hash, status, seat_codes, units, amount_minor, currency, quote, created_at,
          expires_at, life_ends_at)
        values (${inventoryId}, ${holdId}, ${request.customerId}, decode(${request.tokenHash}, 'hex'), 'HELD', ${seats}::text[],
          ${seats.length}, ${request.amountMinor}, ${request.currency}, ${JSON.stringify(request.quote)}::text::json, clock_timestamp(),
          ${expiry}, ${expiry})`
    })
    return true
  } catch (error) {
    if (error instanceof SeatsTaken) return false
    throw error
  }
}
