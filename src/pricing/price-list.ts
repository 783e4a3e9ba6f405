// A price list as data: an ordered list of rules, each naming the strategy that reads its terms. The composition is the price of a showtime.
import { basePrice } from './base-price.ts'
import { bookingFee } from './booking-fee.ts'
import { dayOfWeek } from './day-of-week.ts'
import { formatSurcharge } from './format-surcharge.ts'
import { timeOfDay } from './time-of-day.ts'

export type PriceRule = { strategy: string; label: string; terms: unknown }

export type PriceList = {
  currency: string
  /** Tax contained in every price: 10 % is 1000. */
  taxBasisPoints: number
  rules: PriceRule[]
}

/** What a price may depend on. Day and time are the venue's, and the day is the programme's: a show at 00:35 still has Friday's price. */
export type PricedShowing = {
  /** `2026-12-04`. */
  businessDay: string
  /** `18:45`, on the clock of the venue. */
  localTime: string
  format: string
}

/** One step of a price. Answers what it adds (or, below zero, takes off) in minor units, or null when it does not apply. */
export type PricingStrategy<Terms> = {
  /** Throws RangeError with a sentence when the terms make no sense. */
  read(terms: unknown): Terms
  amountMinor(terms: Terms, seat: { category: string }, showing: PricedShowing, soFarMinor: number): number | null
}

const STRATEGIES = {
  base_price: basePrice,
  day_of_week: dayOfWeek,
  time_of_day: timeOfDay,
  format_surcharge: formatSurcharge,
  booking_fee: bookingFee,
} as const

export type StrategyName = keyof typeof STRATEGIES
export const STRATEGY_NAMES = Object.keys(STRATEGIES) as StrategyName[]

/** Throws RangeError on a strategy nobody knows: a rule that is passed over in silence would sell at a wrong price. */
export function strategyOf(name: string): PricingStrategy<unknown> {
  if (!Object.hasOwn(STRATEGIES, name)) throw new RangeError(`unknown pricing strategy ${JSON.stringify(name)}`)
  return STRATEGIES[name as StrategyName] as PricingStrategy<unknown>
}

/** Refuses (RangeError, naming the rule) a list that could not price every one of these categories. */
export function checkPriceList(list: PriceList, categories: string[]): void {
  for (const [index, rule] of list.rules.entries()) {
    try {
      strategyOf(rule.strategy).read(rule.terms)
    } catch (error) {
      throw new RangeError(`rule ${index + 1} (${rule.label}): ${error instanceof Error ? error.message : error}`)
    }
  }
  const based = list.rules
    .filter((rule) => rule.strategy === 'base_price')
    .map((rule) => basePrice.read(rule.terms).category)
  for (const category of categories) {
    const count = based.filter((name) => name === category).length
    if (count !== 1) throw new RangeError(`category ${category} needs exactly one base price and has ${count}`)
  }
}
