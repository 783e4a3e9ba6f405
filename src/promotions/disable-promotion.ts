// Takes a promo code or a gift voucher off. Orders that have it keep it; the row stays, for they name it.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

/** NOT_FOUND for one there never was; again for the same one is fine. */
export async function disablePromotion(tx: Tx, which: { promoCode: string } | { voucherId: number }): Promise<void> {
  const disabled =
    'promoCode' in which
      ? await tx`
        update promo_codes set disabled_at = coalesce(disabled_at, holdfast_now()) where code = ${which.promoCode}`
      : await tx`
        update gift_vouchers set disabled_at = coalesce(disabled_at, holdfast_now()) where id = ${which.voucherId}`
  if (disabled.count === 0) throw new Problem('NOT_FOUND')
}
