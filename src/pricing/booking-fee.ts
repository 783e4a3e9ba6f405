// Strategy booking_fee {"amountMinor"}: a fee for each ticket, the same for every category.
import type { PricingStrategy } from './price-list.ts'
import { amountTerm, termsObject } from './terms.ts'

export const bookingFee: PricingStrategy<{ amountMinor: number }> = {
  read(terms) {
    const amountMinor = amountTerm(termsObject(terms, 'amountMinor'), 'amountMinor')
    if (amountMinor < 0) throw new RangeError('a fee is not below zero')
    return { amountMinor }
  },
  amountMinor: (terms) => terms.amountMinor,
}
