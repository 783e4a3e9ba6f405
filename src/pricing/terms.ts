// Reads the terms of a price rule out of the jsonb they are stored in; whatever does not fit is refused with a sentence.

// Beyond it sums of a hold could leave the exact integers; no ticket costs ten thousand million.
const AMOUNT_MINOR_MAX = 1e12
const BASIS_POINTS_MAX = 100_000

export function termsObject(terms: unknown, ...known: string[]): Record<string, unknown> {
  if (typeof terms !== 'object' || terms === null || Array.isArray(terms))
    throw new RangeError('terms must be an object')
  const unknown = Object.keys(terms).filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new RangeError(`unknown terms ${unknown.join(', ')}`)
  return terms as Record<string, unknown>
}

export function textTerm(terms: Record<string, unknown>, name: string): string {
  const value = terms[name]
  if (typeof value !== 'string' || value === '') throw new RangeError(`${name} must be a text`)
  return value
}

export function amountTerm(terms: Record<string, unknown>, name: string): number {
  const value = terms[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || Math.abs(value) > AMOUNT_MINOR_MAX) {
    throw new RangeError(`${name} must be a whole number of minor units`)
  }
  return value
}

export type Change = { amountMinor: number } | { basisPoints: number }

/** Either a fixed amount or a share of the price so far. */
export function changeTerm(terms: Record<string, unknown>): Change {
  if ('amountMinor' in terms === 'basisPoints' in terms) throw new RangeError('give either amountMinor or basisPoints')
  if ('amountMinor' in terms) return { amountMinor: amountTerm(terms, 'amountMinor') }
  const basisPoints = amountTerm(terms, 'basisPoints')
  if (Math.abs(basisPoints) > BASIS_POINTS_MAX) throw new RangeError('basisPoints is out of range')
  return { basisPoints }
}

/** Rounds a share half away from zero, in integers only. */
export function shareMinor(wholeMinor: number, basisPoints: number): number {
  const product = BigInt(wholeMinor) * BigInt(basisPoints)
  const magnitude = product < 0n ? -product : product
  const rounded = Number((magnitude + 5000n) / 10000n)
  return product < 0n ? -rounded : rounded
}

export function changeMinor(change: Change, soFarMinor: number): number {
  return 'amountMinor' in change ? change.amountMinor : shareMinor(soFarMinor, change.basisPoints)
}
