// Mails a buyer the tickets once more. An address can be anybody's, so it is done a few times an hour for a booking, whoever asks and wherever.
import { findBooking } from '#bookings/booking.ts'
import { lockSale } from '#bookings/lock-sale.ts'
import { formatSharded, newUuid } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'

const RESENDS_AN_HOUR_MAX = 3

/** Queues it. Throws NO_TICKETS, NO_ADDRESS, and TOO_MANY_ATTEMPTS with retryAfterSeconds. */
export async function resendTickets(
  sql: Sql,
  { inventoryId, bookingId }: { inventoryId: number; bookingId: string },
): Promise<{ id: string; status: 'DUE' }> {
  const id = newUuid()
  await sql.begin(async (tx) => {
    // Counting and writing under the lock: ten requests at once are ten requests.
    const now = await lockSale(tx, inventoryId)
    const booking = await findBooking(tx, inventoryId, bookingId)
    if (booking?.status !== 'CONFIRMED') throw new Problem('NO_TICKETS')
    const [hour] = await tx<{ resends: number; retryAfterSeconds: number }[]>`
      select count(*)::int as resends,
        greatest(1, ceil(extract(epoch from min(created_at) + interval '1 hour' - ${now}::timestamptz)))::int as retry_after_seconds
      from mails
      where inventory_id = ${inventoryId} and booking_id = ${bookingId} and kind = 'CONFIRMATION' and event_id = id
        and created_at > ${now}::timestamptz - interval '1 hour'`
    if (hour && hour.resends >= RESENDS_AN_HOUR_MAX) {
      const { retryAfterSeconds } = hour
      throw new Problem('TOO_MANY_ATTEMPTS', { limit: RESENDS_AN_HOUR_MAX, per: 'booking', retryAfterSeconds })
    }
    const written = await tx`
      insert into mails (inventory_id, id, booking_id, event_id, kind, next_attempt_at, created_at)
      select b.inventory_id, ${id}, b.id, ${id}, 'CONFIRMATION', ${now}, ${now} from bookings b
      where b.inventory_id = ${inventoryId} and b.id = ${bookingId} and b.email is not null`
    if (written.count === 0) throw new Problem('NO_ADDRESS')
  })
  return { id: formatSharded('mail', inventoryId, id), status: 'DUE' }
}
