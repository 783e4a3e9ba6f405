// What a promo code and a gift voucher would come to for an order, and why not: read only. Taking them is another statement, which may still lose the race.
import { splitMinor } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { hashVoucher } from './gift-voucher.ts'
import { type Order, type Reduction, typed, type Wishes } from './promotion.ts'

type PromoCode = {
  code: string
  basisPoints: number | null
  amountMinor: number | null
  currency: string | null
  orderMinMinor: number
  forThis: boolean
  inTime: boolean
  usesMax: number | null
  uses: number
  usesPerCustomerMax: number | null
  usesOfCustomer: number
}

/**
 * The code first, the voucher pays of what is left. Shares are split over the lines by largest remainder, so that they always sum, and no line falls below
 * zero. Throws PROMO_CODE_INVALID {reason: unknown | not_yet | over | other_show | other_currency | order_too_small}, PROMO_CODE_USED_UP {per},
 * VOUCHER_INVALID {reason: unknown | over | other_currency}, VOUCHER_EMPTY.
 */
export async function judgePromotions(tx: Tx, order: Order, wishes: Wishes): Promise<Reduction> {
  const total = sum(order.linesMinor)
  const promo = wishes.promoCode === undefined ? null : await judgeCode(tx, order, total, typed(wishes.promoCode))
  const voucher = wishes.voucherCode === undefined ? null : await judgeVoucher(tx, order, typed(wishes.voucherCode))
  return {
    promoCode: promo?.code ?? null,
    voucherId: voucher?.id ?? null,
    ...reduceLines(order.linesMinor, promo, voucher?.balanceMinor ?? 0),
  }
}

/** What each line is reduced by: the code's share or amount, then the voucher's money. */
export function reduceLines(
  linesMinor: number[],
  promo: Pick<PromoCode, 'basisPoints' | 'amountMinor'> | null,
  balanceMinor: number,
): Pick<Reduction, 'discountsMinor' | 'vouchersMinor'> {
  const discountsMinor = splitMinor(promo ? reductionMinor(promo, sum(linesMinor)) : 0, linesMinor)
  const left = linesMinor.map((minor, index) => minor - (discountsMinor[index] ?? 0))
  return { discountsMinor, vouchersMinor: splitMinor(Math.min(balanceMinor, sum(left)), left) }
}

async function judgeCode(tx: Tx, order: Order, totalMinor: number, code: string): Promise<PromoCode> {
  const [promo] = await tx<PromoCode[]>`
    select p.code, p.basis_points, p.amount_minor, p.currency, p.order_min_minor, p.uses_max, p.uses, p.uses_per_customer_max,
      p.inventory_ids is null or ${order.inventoryId}::bigint = any (p.inventory_ids) as for_this,
      coalesce(p.valid_from <= holdfast_now(), true) as in_time,
      (select count(*)::int from promotion_uses u
        where u.promo_code = p.code and u.customer_id = ${order.customerId} and u.status = 'TAKEN') as uses_of_customer
    from promo_codes p
    where p.code = ${code} and p.disabled_at is null and coalesce(p.valid_until > holdfast_now(), true)`
  const refuse = (reason: string, detail: string) => new Problem('PROMO_CODE_INVALID', { reason, detail })
  // One that is over is as unknown as one that never was: whoever guesses learns nothing.
  if (!promo) throw refuse('unknown', 'There is no such promo code, or not any more.')
  if (!promo.inTime) throw refuse('not_yet', 'This promo code is not valid yet.')
  if (!promo.forThis) throw refuse('other_show', 'This promo code is not for this show.')
  if (promo.currency !== null && promo.currency !== order.currency)
    throw refuse('other_currency', `This promo code is for orders in ${promo.currency}.`)
  if (totalMinor < promo.orderMinMinor)
    throw new Problem('PROMO_CODE_INVALID', {
      reason: 'order_too_small',
      orderMin: { amount: promo.orderMinMinor, currency: order.currency },
      detail: 'This promo code needs a larger order.',
    })
  if (promo.usesPerCustomerMax !== null && promo.usesOfCustomer >= promo.usesPerCustomerMax)
    throw new Problem('PROMO_CODE_USED_UP', { per: 'customer' })
  if (promo.usesMax !== null && promo.uses >= promo.usesMax) throw new Problem('PROMO_CODE_USED_UP', { per: 'all' })
  return promo
}

async function judgeVoucher(tx: Tx, order: Order, code: string): Promise<{ id: number; balanceMinor: number }> {
  const [voucher] = await tx<{ id: number; balanceMinor: number; currency: string }[]>`
    select id, balance_minor, currency from gift_vouchers
    where code_hash = decode(${hashVoucher(code)}, 'hex') and disabled_at is null and coalesce(valid_until > holdfast_now(), true)`
  if (!voucher) throw new Problem('VOUCHER_INVALID', { reason: 'unknown' })
  if (voucher.currency !== order.currency)
    throw new Problem('VOUCHER_INVALID', {
      reason: 'other_currency',
      detail: `This gift voucher is in ${voucher.currency}.`,
    })
  if (voucher.balanceMinor === 0) throw new Problem('VOUCHER_EMPTY')
  return voucher
}

// Rounded half up, and never more than there is.
function reductionMinor(
  { basisPoints, amountMinor }: Pick<PromoCode, 'basisPoints' | 'amountMinor'>,
  totalMinor: number,
): number {
  if (amountMinor !== null) return Math.min(amountMinor, totalMinor)
  return Number((BigInt(totalMinor) * BigInt(basisPoints ?? 0) + 5_000n) / 10_000n)
}

function sum(amounts: number[]): number {
  return amounts.reduce((total, minor) => total + minor, 0)
}
