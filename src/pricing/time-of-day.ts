// Strategy time_of_day {"from": "06:00", "until": "17:00", "amountMinor" | "basisPoints"}: matinées and late shows, by the venue's clock.
import type { PricingStrategy } from './price-list.ts'
import { type Change, changeMinor, changeTerm, termsObject, textTerm } from './terms.ts'

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/

export const timeOfDay: PricingStrategy<{ from: string; until: string; change: Change }> = {
  read(terms) {
    const given = termsObject(terms, 'from', 'until', 'amountMinor', 'basisPoints')
    const from = textTerm(given, 'from')
    const until = textTerm(given, 'until')
    if (!CLOCK.test(from) || !CLOCK.test(until) || from === until)
      throw new RangeError('from and until must be two different times like 17:00')
    return { from, until, change: changeTerm(given) }
  },
  // Half-open, and across midnight when `until` is the earlier of the two.
  amountMinor({ from, until, change }, _seat, { localTime }, soFarMinor) {
    const inside = from < until ? from <= localTime && localTime < until : from <= localTime || localTime < until
    return inside ? changeMinor(change, soFarMinor) : null
  },
}
