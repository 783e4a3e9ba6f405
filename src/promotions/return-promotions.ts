// Gives back what a booking took, when it ends unpaid or is cancelled as a whole: the code can be used again, the rest of the voucher is on it again.
import type { Tx } from '#database/connect.ts'

type Taken = { promoCode: string | null; voucherId: number | null }

/**
 * Part of a transaction that has locked the inventory; nothing happens where nothing was taken, or it went back before. `voucherMinor`: how much goes back
 * to the voucher; absent: all that did not yet.
 */
export async function returnPromotions(
  tx: Tx,
  inventoryId: number,
  bookingId: string,
  voucherMinor?: number,
): Promise<void> {
  const [taken] = await tx<(Taken & { leftMinor: number })[]>`
    update promotion_uses set status = 'RETURNED'
    where inventory_id = ${inventoryId} and booking_id = ${bookingId} and status = 'TAKEN'
    returning promo_code, voucher_id, voucher_minor - voucher_returned_minor as left_minor`
  if (!taken) return
  if (taken.promoCode !== null) await tx`update promo_codes set uses = uses - 1 where code = ${taken.promoCode}`
  const backMinor = voucherMinor ?? taken.leftMinor
  if (taken.voucherId !== null && backMinor > 0) await refill(tx, inventoryId, bookingId, taken.voucherId, backMinor)
}

/** What cancelled lines put back on the voucher; the code stays used, for the rest of the booking was bought with it. */
export async function returnToVoucher(
  tx: Tx,
  inventoryId: number,
  bookingId: string,
  backMinor: number,
): Promise<void> {
  if (backMinor === 0) return
  const [taken] = await tx<{ voucherId: number }[]>`
    select voucher_id from promotion_uses where inventory_id = ${inventoryId} and booking_id = ${bookingId} and voucher_id is not null`
  if (!taken) throw new Error(`booking ${bookingId} was not paid with a voucher`)
  await refill(tx, inventoryId, bookingId, taken.voucherId, backMinor)
}

async function refill(
  tx: Tx,
  inventoryId: number,
  bookingId: string,
  voucherId: number,
  backMinor: number,
): Promise<void> {
  await tx`
    update promotion_uses set voucher_returned_minor = voucher_returned_minor + ${backMinor}
    where inventory_id = ${inventoryId} and booking_id = ${bookingId}`
  await tx`update gift_vouchers set balance_minor = balance_minor + ${backMinor} where id = ${voucherId}`
}
