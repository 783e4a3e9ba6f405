// Takes what a buyer named for one booking: the code's use and the voucher's money, in the transaction that writes the booking, so neither is spent twice
// nor spent for nothing. The inventory is locked before; codes before vouchers, so that two checkouts never wait for each other in a circle.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { hashVoucher } from './gift-voucher.ts'
import { judgePromotions } from './judge-promotions.ts'
import { type Order, type Reduction, typed, type Wishes } from './promotion.ts'

/** Throws what judgePromotions throws; PROMO_CODE_USED_UP and VOUCHER_EMPTY also to whoever lost the last one to somebody else this moment. */
export async function takePromotions(tx: Tx, bookingId: string, order: Order, wishes: Wishes): Promise<Reduction> {
  // Locked before they are judged: what is read is what is taken.
  await lockNamed(tx, wishes)
  const reduction = await judgePromotions(tx, order, wishes)
  const { promoCode, voucherId } = reduction
  if (promoCode === null && voucherId === null) return reduction
  const discountMinor = sum(reduction.discountsMinor)
  const voucherMinor = sum(reduction.vouchersMinor)
  if (promoCode !== null) {
    const used = await tx`
      update promo_codes set uses = uses + 1 where code = ${promoCode} and (uses_max is null or uses < uses_max)`
    if (used.count === 0) throw new Problem('PROMO_CODE_USED_UP', { per: 'all' })
  }
  if (voucherId !== null) {
    const spent = await tx`
      update gift_vouchers set balance_minor = balance_minor - ${voucherMinor}
      where id = ${voucherId} and balance_minor >= ${voucherMinor}`
    if (spent.count === 0) throw new Problem('VOUCHER_EMPTY')
  }
  await tx`
    insert into promotion_uses (inventory_id, booking_id, customer_id, promo_code, discount_minor, voucher_id, voucher_minor, status, created_at)
    values (${order.inventoryId}, ${bookingId}, ${order.customerId}, ${promoCode}, ${discountMinor}, ${voucherId}, ${voucherMinor}, 'TAKEN',
      holdfast_now())`
  return reduction
}

async function lockNamed(tx: Tx, { promoCode, voucherCode }: Wishes): Promise<void> {
  if (promoCode !== undefined) await tx`select 1 from promo_codes where code = ${typed(promoCode)} for update`
  if (voucherCode !== undefined)
    await tx`select 1 from gift_vouchers where code_hash = decode(${hashVoucher(typed(voucherCode))}, 'hex') for update`
}

function sum(amounts: number[]): number {
  return amounts.reduce((total, minor) => total + minor, 0)
}
