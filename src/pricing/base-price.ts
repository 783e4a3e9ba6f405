// Strategy base_price {"category", "amountMinor"}: what a seat of this category costs before anything is added or taken off.
import type { PricingStrategy } from './price-list.ts'
import { amountTerm, termsObject, textTerm } from './terms.ts'

export const basePrice: PricingStrategy<{ category: string; amountMinor: number }> = {
  read(terms) {
    const given = termsObject(terms, 'category', 'amountMinor')
    const amountMinor = amountTerm(given, 'amountMinor')
    if (amountMinor < 0) throw new RangeError('a base price is not below zero')
    return { category: textTerm(given, 'category'), amountMinor }
  },
  amountMinor: (terms, seat) => (seat.category === terms.category ? terms.amountMinor : null),
}
