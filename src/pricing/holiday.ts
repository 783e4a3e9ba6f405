// Strategy holiday {"dates": ["2026-12-25"], "amountMinor" | "basisPoints"}: days that cost what no weekday says, by the venue's programme day.
import type { PricingStrategy } from './price-list.ts'
import { type Change, changeMinor, changeTerm, termsObject } from './terms.ts'

const DATES_MAX = 400

export const holiday: PricingStrategy<{ dates: string[]; change: Change }> = {
  read(terms) {
    const given = termsObject(terms, 'dates', 'amountMinor', 'basisPoints')
    const dates: unknown = given.dates
    if (!Array.isArray(dates) || dates.length === 0 || dates.length > DATES_MAX || !dates.every(isDate))
      throw new RangeError('dates must be days like 2026-12-25')
    return { dates, change: changeTerm(given) }
  },
  amountMinor: (terms, _ticket, { businessDay }, soFarMinor) =>
    terms.dates.includes(businessDay) ? changeMinor(terms.change, soFarMinor) : null,
}

function isDate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  try {
    return Temporal.PlainDate.from(value).toString() === value
  } catch {
    return false
  }
}
