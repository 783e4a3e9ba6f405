// Strategy order_fee {"amountMinor"}: once for each order, however many tickets it has; its tickets carry equal shares, so that refunds add up.
import type { PricingStrategy } from './price-list.ts'
import { amountTerm, termsObject } from './terms.ts'

export const orderFee: PricingStrategy<{ amountMinor: number }> = {
  perOrder: true,
  read(terms) {
    const amountMinor = amountTerm(termsObject(terms, 'amountMinor'), 'amountMinor')
    if (amountMinor < 0) throw new RangeError('a fee is not below zero')
    return { amountMinor }
  },
  amountMinor: (terms) => terms.amountMinor,
}
