// Strategy format_surcharge {"format": "3D", "amountMinor" | "basisPoints"}: what glasses or a giant screen cost on top.
import type { PricingStrategy } from './price-list.ts'
import { type Change, changeMinor, changeTerm, termsObject, textTerm } from './terms.ts'

export const formatSurcharge: PricingStrategy<{ format: string; change: Change }> = {
  read(terms) {
    const given = termsObject(terms, 'format', 'amountMinor', 'basisPoints')
    return { format: textTerm(given, 'format'), change: changeTerm(given) }
  },
  amountMinor: (terms, _seat, showing, soFarMinor) =>
    showing.format === terms.format ? changeMinor(terms.change, soFarMinor) : null,
}
