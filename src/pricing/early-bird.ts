// Strategy early_bird {"daysBefore": 7, "amountMinor" | "basisPoints"}: for whoever holds that many days before the show, or more, on the venue's calendar.
import type { PricingStrategy } from './price-list.ts'
import { amountTerm, type Change, changeMinor, changeTerm, termsObject } from './terms.ts'

const DAYS_MAX = 1_000

export const earlyBird: PricingStrategy<{ daysBefore: number; change: Change }> = {
  read(terms) {
    const given = termsObject(terms, 'daysBefore', 'amountMinor', 'basisPoints')
    const daysBefore = amountTerm(given, 'daysBefore')
    if (daysBefore < 1 || daysBefore > DAYS_MAX) throw new RangeError(`daysBefore must be from 1 to ${DAYS_MAX}`)
    return { daysBefore, change: changeTerm(given) }
  },
  amountMinor: (terms, _ticket, showing, soFarMinor) =>
    showing.daysBefore >= terms.daysBefore ? changeMinor(terms.change, soFarMinor) : null,
}
