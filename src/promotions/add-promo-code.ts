// Makes a promo code: what it takes off, for which shows, when and how often.
import { type Money, minorDigits } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

export type NewPromoCode = {
  code: string
  label: string
  basisPoints?: number
  amount?: Money
  orderMin?: Money
  inventoryIds?: number[]
  validFrom?: string
  validUntil?: string
  usesMax?: number
  usesPerCustomerMax?: number
}

/** INVALID_REQUEST for terms that make no sense together, ALREADY_EXISTS for a code there was before, also a disabled one: orders still name it. */
export async function addPromoCode(tx: Tx, promo: NewPromoCode): Promise<void> {
  const errors = faultsOf(promo)
  if (errors.length > 0) throw new Problem('INVALID_REQUEST', { errors })
  const { amount, orderMin } = promo
  const added = await tx`
    insert into promo_codes (code, label, basis_points, amount_minor, currency, order_min_minor, inventory_ids, valid_from, valid_until, uses_max,
      uses_per_customer_max)
    values (${promo.code}, ${promo.label}, ${promo.basisPoints ?? null}, ${amount?.amount ?? null},
      ${amount?.currency ?? orderMin?.currency ?? null}, ${orderMin?.amount ?? 0}, ${promo.inventoryIds ?? null}::bigint[],
      ${promo.validFrom ?? null}, ${promo.validUntil ?? null}, ${promo.usesMax ?? null}, ${promo.usesPerCustomerMax ?? null})
    on conflict (code) do nothing`
  if (added.count === 0) throw new Problem('ALREADY_EXISTS', { promoCode: promo.code })
}

function faultsOf({ basisPoints, amount, orderMin, validFrom, validUntil }: NewPromoCode) {
  const faults: { path: string; message: string }[] = []
  if ((basisPoints === undefined) === (amount === undefined))
    faults.push({ path: '/', message: 'give either basisPoints or amount' })
  if (amount && orderMin && amount.currency !== orderMin.currency)
    faults.push({ path: '/orderMin/currency', message: 'is not the currency of the amount' })
  for (const [path, money] of [
    ['/amount/currency', amount],
    ['/orderMin/currency', orderMin],
  ] as const)
    if (money && !isCurrency(money.currency)) faults.push({ path, message: 'is no currency of ISO 4217' })
  if (validFrom !== undefined && validUntil !== undefined && !(Date.parse(validFrom) < Date.parse(validUntil)))
    faults.push({ path: '/validUntil', message: 'is not after validFrom' })
  return faults
}

function isCurrency(code: string): boolean {
  try {
    return minorDigits(code) >= 0
  } catch {
    return false
  }
}
