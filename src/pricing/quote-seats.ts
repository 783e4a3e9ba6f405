// Works out what seats cost at one showing: every rule of the price list in turn, each step kept as a part, so that the quote explains itself.
import { type PricedShowing, type PriceList, strategyOf } from './price-list.ts'
import type { Quote, QuoteLine, QuotePart } from './quote.ts'

export type PricedSeat = { code: string; category: string }

/**
 * Integers only. Parts sum to their line and lines to the total, exactly. A reduction never takes a seat below zero. Throws RangeError when
 * the list has no base price for a category: nothing is ever sold at a price nobody set.
 */
export function quoteSeats(list: PriceList, showing: PricedShowing, seats: PricedSeat[]): Quote {
  const byCategory = new Map<string, Omit<QuoteLine, 'seat'>>()
  const lines = seats.map(({ code, category }): QuoteLine => {
    const price = byCategory.get(category) ?? priceCategory(list, showing, category)
    byCategory.set(category, price)
    return { seat: code, ...price }
  })
  return {
    currency: list.currency,
    totalMinor: lines.reduce((sum, line) => sum + line.amountMinor, 0),
    taxBasisPoints: list.taxBasisPoints,
    taxMinor: lines.reduce((sum, line) => sum + (line.taxMinor ?? 0), 0),
    lines,
  }
}

/** The price of one seat of this category: a line that has no seat yet. */
export function priceCategory(list: PriceList, showing: PricedShowing, category: string): Omit<QuoteLine, 'seat'> {
  const parts: QuotePart[] = []
  let based = false
  let amountMinor = 0
  for (const rule of list.rules) {
    const strategy = strategyOf(rule.strategy)
    const asked = strategy.amountMinor(strategy.read(rule.terms), { category }, showing, amountMinor)
    if (asked === null) continue
    if (rule.strategy === 'base_price') based = true
    const added = Math.max(asked, -amountMinor)
    parts.push({ label: rule.label, amountMinor: added })
    amountMinor += added
  }
  if (!based) throw new RangeError(`no base price for category ${category}`)
  return { quantity: 1, category, amountMinor, taxMinor: includedTaxMinor(amountMinor, list.taxBasisPoints), parts }
}

/** The tax inside a gross amount, rounded half up: 13.00 with 10 % included contains 1.18. */
export function includedTaxMinor(grossMinor: number, taxBasisPoints: number): number {
  const divisor = BigInt(10_000 + taxBasisPoints)
  return Number((2n * BigInt(grossMinor) * BigInt(taxBasisPoints) + divisor) / (2n * divisor))
}
