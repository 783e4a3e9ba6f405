// Works out what seats cost at one showing: every rule of the price list in turn, each step kept as a part, so that the quote explains itself.
import { splitMinor } from '#core/money.ts'
import { type PriceList, type PricingStrategy, strategyOf } from './price-list.ts'
import { ADULT, type PricedShowing } from './priced-showing.ts'
import type { Quote, QuoteLine, QuotePart } from './quote.ts'

export type PricedSeat = { code: string; category: string; ticketType?: string }

type Step = { label: string; strategy: PricingStrategy<unknown>; terms: unknown; isBase: boolean }
type Bill = {
  category: string
  ticketType: string
  amountMinor: number
  taxMinor: number
  based: boolean
  parts: QuotePart[]
}

/**
 * Integers only. Parts sum to their line and lines to the total, exactly. A reduction never takes a seat below zero. Throws RangeError when
 * the list has no base price for a category: nothing is ever sold at a price nobody set.
 */
export function quoteSeats(list: PriceList, showing: PricedShowing, seats: PricedSeat[]): Quote {
  const bills = seats.map(({ category, ticketType }) => newBill(category, ticketType))
  for (const step of stepsOf(list)) apply(step, bills, showing)
  const lines = bills.map((bill, index): QuoteLine => ({ seat: seats[index]?.code ?? '', ...lineOf(list, bill) }))
  return {
    currency: list.currency,
    totalMinor: lines.reduce((sum, line) => sum + line.amountMinor, 0),
    taxBasisPoints: taxOf(list),
    taxMinor: lines.reduce((sum, line) => sum + (line.taxMinor ?? 0), 0),
    lines,
    ...ticketsOf(lines),
  }
}

function ticketsOf(lines: QuoteLine[]): { tickets?: string } {
  const named = lines.flatMap(({ seat, ticketType }) => (ticketType ? `${seat}=${ticketType}` : []))
  return named.length === 0 ? {} : { tickets: named.sort().join() }
}

/** The price of one seat of this category for an adult, without what is paid once an order: a line that has no seat yet. */
export function priceCategory(list: PriceList, showing: PricedShowing, category: string): Omit<QuoteLine, 'seat'> {
  const bill = newBill(category)
  for (const step of stepsOf(list)) if (!step.strategy.perOrder) apply(step, [bill], showing)
  return lineOf(list, bill)
}

/** The tax inside a gross amount, rounded half up: 13.00 with 10 % included contains 1.18. */
export function includedTaxMinor(grossMinor: number, taxBasisPoints: number): number {
  const divisor = BigInt(10_000 + taxBasisPoints)
  return Number((2n * BigInt(grossMinor) * BigInt(taxBasisPoints) + divisor) / (2n * divisor))
}

function newBill(category: string, ticketType = ADULT): Bill {
  return { category, ticketType, amountMinor: 0, taxMinor: 0, based: false, parts: [] }
}

function apply({ label, strategy, terms, isBase }: Step, bills: Bill[], showing: PricedShowing): void {
  const shares = strategy.perOrder
    ? sharesOf(bills, strategy.amountMinor(terms, NOBODY, showing, 0) ?? 0)
    : new Map(bills.map((bill) => [bill, strategy.amountMinor(terms, bill, showing, bill.amountMinor)]))
  for (const [bill, asked] of shares) {
    if (asked === null) continue
    if (isBase) bill.based = true
    const added = Math.max(asked, -bill.amountMinor)
    bill.parts.push({ label, amountMinor: added })
    bill.amountMinor += added
    if (strategy.isTax) bill.taxMinor += added
  }
}

// Equal shares; the odd cents go to the dearest tickets, not to the ones named first: what an order costs must not depend on the order of its seats.
function sharesOf(bills: Bill[], wholeMinor: number): Map<Bill, number | null> {
  const sorted = bills.toSorted((a, b) => b.amountMinor - a.amountMinor || (keyOf(a) < keyOf(b) ? -1 : 1))
  const shares = splitMinor(wholeMinor, new Array<number>(bills.length).fill(1))
  return new Map(sorted.map((bill, index) => [bill, shares[index] || null]))
}

function keyOf({ category, ticketType }: Bill): string {
  return `${category} ${ticketType}`
}

// A fee of the order knows no ticket.
const NOBODY = { category: '', ticketType: ADULT }

function lineOf(list: PriceList, bill: Bill): Omit<QuoteLine, 'seat'> {
  const { category, ticketType, amountMinor, based, parts } = bill
  if (!based) throw new RangeError(`no base price for category ${category}`)
  const taxMinor = bill.taxMinor + includedTaxMinor(amountMinor, list.taxBasisPoints)
  return { quantity: 1, category, ...(ticketType === ADULT ? {} : { ticketType }), amountMinor, taxMinor, parts }
}

function taxOf(list: PriceList): number {
  const added = stepsOf(list).find(({ strategy }) => strategy.isTax)
  return added ? (added.terms as { basisPoints: number }).basisPoints : list.taxBasisPoints
}

// Terms are read once a list, not once a ticket: every hold asks.
const READ = new WeakMap<PriceList, Step[]>()

function stepsOf(list: PriceList): Step[] {
  const read = READ.get(list)
  if (read) return read
  const steps = list.rules.map((rule): Step => {
    const strategy = strategyOf(rule.strategy)
    return { label: rule.label, strategy, terms: strategy.read(rule.terms), isBase: rule.strategy === 'base_price' }
  })
  READ.set(list, steps)
  return steps
}
