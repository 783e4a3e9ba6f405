// Money is an integer in the currency's minor unit plus the ISO code; this is the only place that turns it into words or splits it.
import { MINOR_DIGITS } from './currencies.ts'

export type Money = { amount: number; currency: string }

/** Throws on a code ISO 4217 does not have: a wrong number of digits would charge a hundredfold. */
export function minorDigits(currency: string): number {
  const digits = MINOR_DIGITS[currency]
  if (digits === undefined) throw new RangeError(`unknown currency ${currency}`)
  return digits
}

/** "13.00" and "AUD" -> 1300, exactly; refuses more digits than the currency has, exponents, signs and floats. */
export function parseMinor(text: string, currency: string): number {
  const digits = minorDigits(currency)
  const match = /^([0-9]{1,13})(?:\.([0-9]+))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  if (!match || fraction.length > digits) throw new RangeError(`${JSON.stringify(text)} is no amount in ${currency}`)
  const minor = Number(match[1]) * 10 ** digits + Number(fraction.padEnd(digits, '0') || '0')
  if (!Number.isSafeInteger(minor)) throw new RangeError(`${text} ${currency} is too large`)
  return minor
}

/** 1300 and "AUD" -> "13.00 AUD". Our own digits: Intl's differ from ISO 4217 for HUF, IDR, PKR, COP and IQD. */
export function formatMoney({ amount, currency }: Money): string {
  const digits = minorDigits(currency)
  const text = String(Math.abs(amount)).padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  const sign = amount < 0 ? '-' : ''
  return digits === 0 ? `${sign}${whole} ${currency}` : `${sign}${whole}.${text.slice(-digits)} ${currency}`
}

/** Splits a whole over weights by largest remainder, ties to the earlier share: the shares always sum to the whole. Integers >= 0. */
export function splitMinor(whole: number, weights: number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + BigInt(weight), 0n)
  if (total === 0n) return weights.map((_, index) => (index === 0 ? whole : 0))
  const exact = weights.map((weight) => BigInt(whole) * BigInt(weight))
  const shares = exact.map((product) => product / total)
  const left = Number(BigInt(whole) - shares.reduce((sum, share) => sum + share, 0n))
  const byRemainder = exact.map((product, index) => ({ index, remainder: product % total }))
  byRemainder.sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1))
  for (const { index } of byRemainder.slice(0, left)) shares[index] = (shares[index] ?? 0n) + 1n
  return shares.map(Number)
}
