// Strategy day_of_week {"days": [6, 7], "amountMinor" | "basisPoints"}: weekday and weekend prices, 1 is Monday, by the venue's programme day.
import type { PricingStrategy } from './price-list.ts'
import { type Change, changeMinor, changeTerm, termsObject } from './terms.ts'

export const dayOfWeek: PricingStrategy<{ days: number[]; change: Change }> = {
  read(terms) {
    const given = termsObject(terms, 'days', 'amountMinor', 'basisPoints')
    const days: unknown = given.days
    if (
      !Array.isArray(days) ||
      days.length === 0 ||
      !days.every((day) => Number.isInteger(day) && day >= 1 && day <= 7)
    ) {
      throw new RangeError('days must be numbers from 1 (Monday) to 7')
    }
    return { days, change: changeTerm(given) }
  },
  amountMinor(terms, _seat, showing, soFarMinor) {
    if (!terms.days.includes(Temporal.PlainDate.from(showing.businessDay).dayOfWeek)) return null
    return changeMinor(terms.change, soFarMinor)
  },
}
