// Strategy added_tax {"basisPoints": 825}: tax that prices do not contain, worked out ticket by ticket on everything above it, rounded half up.
import type { PricingStrategy } from './price-list.ts'
import { amountTerm, shareMinor, termsObject } from './terms.ts'

export const addedTax: PricingStrategy<{ basisPoints: number }> = {
  isTax: true,
  read(terms) {
    const basisPoints = amountTerm(termsObject(terms, 'basisPoints'), 'basisPoints')
    if (basisPoints < 0 || basisPoints > 10_000) throw new RangeError('basisPoints must be from 0 to 10000')
    return { basisPoints }
  },
  amountMinor: (terms, _ticket, _showing, soFarMinor) => shareMinor(soFarMinor, terms.basisPoints),
}
