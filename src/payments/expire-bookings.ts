// Ends bookings whose hold ran out before any money came. For display, events and the payment page: what can be paid is decided without it.
import { type Booking, findBooking } from '#bookings/booking.ts'
import { endBooking } from '#bookings/end-booking.ts'
import { lockSale } from '#bookings/lock-sale.ts'
import type { Worker } from '#core/workers.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { endOpenAttempt } from './end-attempts.ts'

type Parts = { sql: Sql; wake: (worker: string) => void }

const INTERVAL_MS = 1_000
const BOOKINGS_AT_ONCE = 200

export function expireBookings({ sql, wake }: Parts): Worker {
  return {
    name: 'expire-bookings',
    intervalMs: INTERVAL_MS,
    async run() {
      const expired = await expirePendingBookings(sql)
      if (expired > 0) for (const worker of ['relay', 'settle']) wake(worker)
      return expired
    },
  }
}

/** One short transaction an inventory. Answers how many it ended; two workers at once never end one twice. */
export async function expirePendingBookings(sql: Sql): Promise<number> {
  const over = await sql<{ inventoryId: number; id: string }[]>`
    select inventory_id, id from bookings
    where status = 'PENDING' and expires_at <= (select holdfast_now() offset 0) order by expires_at limit ${BOOKINGS_AT_ONCE}`
  let expired = 0
  for (const [inventoryId, bookings] of Map.groupBy(over, (booking) => booking.inventoryId)) {
    expired += await sql.begin(async (tx) => {
      const now = await lockSale(tx, inventoryId)
      let ended = 0
      for (const { id } of bookings) ended += (await expire(tx, await findBooking(tx, inventoryId, id), now)) ? 1 : 0
      return ended
    })
  }
  return expired
}

async function expire(tx: Tx, booking: Booking | null, now: string): Promise<boolean> {
  if (!booking || now < booking.expiresAt || !(await endBooking(tx, booking, 'EXPIRED'))) return false
  await endOpenAttempt(tx, booking.inventoryId, booking.id)
  return true
}
