// LATE_PAYMENT=rescue: late money still buys its seats when every one of them is free, in the transaction that would otherwise send it back.
//
// Nothing is taken that a new buyer could not take at this moment: it is a new hold, placed by the same judge under the same lock, checked out and sold at
// once. So a closed sale, a seat in somebody's hand, a pool that is full and the customer's limit all say no, as a whole, and then the money goes back.
import type { Booking } from '#bookings/booking.ts'
import { reviveBooking } from '#bookings/revive-booking.ts'
import { newUuid } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { holdUnits } from '#inventory/seat-store.ts'
import type { LatePolicy } from './receive-callback.ts'

// Longer than the rest of this transaction; nobody else ever sees the hold.
const HOLD_MS = 60_000

/**
 * The inventory is locked, the booking was read under the lock, its hold ran out and its price was paid exactly. False: not all of it can be had, nothing
 * has changed. A booking that was given up, or that lost its promotions when it ended, stays as it ended.
 */
export async function rescueBooking(tx: Tx, booking: Booking, policy: LatePolicy): Promise<boolean> {
  const { inventoryId, holdId, id } = booking
  if (booking.status !== 'PENDING' && booking.status !== 'EXPIRED') return false
  const store = postgresStore(tx)
  const lapsed = await store.readHold(inventoryId, holdId)
  if (lapsed?.status !== 'EXPIRED' || (await holdsAnything(tx, inventoryId, lapsed.customerId))) return false
  if (await hadPromotions(tx, booking)) return false

  const { customerId, tokenHash, seats, pools, amountMinor, currency, quote } = lapsed
  const newHoldId = newUuid()
  const unitsMax = Math.max(policy.seatsPerCustomerMax, holdUnits(lapsed))
  const wish = { customerId, tokenHash, seats, pools, amountMinor, currency, quote, unitsMax }
  const [placed] = await store.place([{ inventoryId, holdId: newHoldId, ttlMs: HOLD_MS, lifeMs: HOLD_MS, ...wish }])
  if (placed?.outcome !== 'HELD') return false
  await store.checkOut(inventoryId, newHoldId, HOLD_MS)
  const { outcome } = await store.confirm(inventoryId, newHoldId, id)
  if (outcome !== 'BOOKED') throw new Error(`hold ${newHoldId} was placed under the lock and answers ${outcome}`)
  await reviveBooking(tx, booking, newHoldId)
  return true
}

// What they hold now they chose later, perhaps these very seats; placing another hold would take it from them.
async function holdsAnything(tx: Tx, inventoryId: number, customerId: string): Promise<boolean> {
  const live = await tx`
    select 1 from holds where inventory_id = ${inventoryId} and customer_id = ${customerId} and status in ('HELD', 'CHECKED_OUT')
      and expires_at > (select holdfast_now() offset 0) limit 1`
  return live.count > 0
}

async function hadPromotions(tx: Tx, { inventoryId, id }: Booking): Promise<boolean> {
  const used = await tx`select 1 from promotion_uses where inventory_id = ${inventoryId} and booking_id = ${id} limit 1`
  return used.count > 0
}
