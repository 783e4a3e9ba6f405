// Gives a hold back, also one that is being paid: the seats at once, the booking and its payment session with it.
import { findBookingOfHold } from '#bookings/booking.ts'
import { endBooking } from '#bookings/end-booking.ts'
import { lockSale } from '#bookings/lock-sale.ts'
import type { Sql } from '#database/connect.ts'
import type { Gate } from '#gate/gate.ts'
import { releaseHold } from '#holds/release-hold.ts'
import { endOpenAttempt } from './end-attempts.ts'

type AbandonedHold = { inventoryId: number; holdId: string; customerId: string; seats: string[] }
type Parts = { sql: Sql; gate: Gate; wake: (worker: string) => void }

/** A success as well when it is over already. Money that is paid all the same is given back as late. Throws ALREADY_BOOKED, NOT_FOUND. */
export async function abandonHold(
  { sql, gate, wake }: Parts,
  { inventoryId, holdId, customerId, seats }: AbandonedHold,
): Promise<void> {
  await sql.begin(async (tx) => {
    await lockSale(tx, inventoryId)
    const before = await releaseHold(tx, { inventoryId, holdId })
    if (before !== 'CHECKED_OUT') return
    const booking = await findBookingOfHold(tx, inventoryId, holdId)
    if (!booking) throw new Error(`hold ${holdId} was checked out without a booking`)
    await endBooking(tx, booking, 'CANCELLED')
    await endOpenAttempt(tx, inventoryId, booking.id)
  })
  await gate.free(inventoryId, seats, customerId)
  wake('relay')
  wake('settle')
}
