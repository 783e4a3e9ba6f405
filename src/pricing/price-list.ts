// A price list as data: an ordered list of rules, each naming the strategy that reads its terms. The composition is the price of a showtime.
import { addedTax } from './added-tax.ts'
import { basePrice } from './base-price.ts'
import { bookingFee } from './booking-fee.ts'
import { channel } from './channel.ts'
import { dayOfWeek } from './day-of-week.ts'
import { earlyBird } from './early-bird.ts'
import { formatSurcharge } from './format-surcharge.ts'
import { holiday } from './holiday.ts'
import { orderFee } from './order-fee.ts'
import { ADULT, type PricedShowing, type PricedTicket } from './priced-showing.ts'
import { ticketType } from './ticket-type.ts'
import { timeOfDay } from './time-of-day.ts'

export type PriceRule = { strategy: string; label: string; terms: unknown }

export type PriceList = {
  currency: string
  /** Tax contained in every price: 10 % is 1000. 0 where a rule adds the tax instead. */
  taxBasisPoints: number
  rules: PriceRule[]
}

/** One step of a price. Answers what it adds (or, below zero, takes off) in minor units, or null when it does not apply. */
export type PricingStrategy<Terms> = {
  /** Throws RangeError with a sentence when the terms make no sense. */
  read(terms: unknown): Terms
  amountMinor(terms: Terms, ticket: PricedTicket, showing: PricedShowing, soFarMinor: number): number | null
  /** Once for the whole order, shared by its tickets alike; else for each ticket. */
  perOrder?: true
  /** What it adds is tax. */
  isTax?: true
}

const STRATEGIES = {
  base_price: basePrice,
  ticket_type: ticketType,
  day_of_week: dayOfWeek,
  holiday,
  time_of_day: timeOfDay,
  early_bird: earlyBird,
  format_surcharge: formatSurcharge,
  channel,
  booking_fee: bookingFee,
  order_fee: orderFee,
  added_tax: addedTax,
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
  const based = termsOf(list, 'base_price').map((terms) => basePrice.read(terms).category)
  for (const category of categories) {
    const count = based.filter((name) => name === category).length
    if (count !== 1) throw new RangeError(`category ${category} needs exactly one base price and has ${count}`)
  }
  const taxes = termsOf(list, 'added_tax').length
  if (taxes > 1 || (taxes === 1 && (list.taxBasisPoints > 0 || list.rules.at(-1)?.strategy !== 'added_tax')))
    throw new RangeError('added tax is one rule, the last one, and no tax is contained in the prices then')
}

/** The ticket types a buyer can name, ADULT first. */
export function ticketTypesOf(list: PriceList): string[] {
  const named = termsOf(list, 'ticket_type').map((terms) => ticketType.read(terms).ticketType)
  return [...new Set([ADULT, ...named])]
}

/** Whether today matters: only then must the venue's date be known. */
export function dependsOnToday(list: PriceList): boolean {
  return termsOf(list, 'early_bird').length > 0
}

function termsOf(list: PriceList, strategy: StrategyName): unknown[] {
  return list.rules.filter((rule) => rule.strategy === strategy).map((rule) => rule.terms)
}
