// How many points an amount of money is worth. Whole points only, rounded down once, on all that a booking paid and keeps.
import { minorDigits } from '#core/money.ts'

/** `perUnit` points for each whole unit of the currency: 24.50 EUR at 1 are 24, 1,500 JPY are 1,500. Never below 0; throws on an unknown currency. */
export function pointsOf(paidMinor: number, currency: string, perUnit: number): number {
  if (paidMinor <= 0) return 0
  return Number((BigInt(paidMinor) * BigInt(perUnit)) / 10n ** BigInt(minorDigits(currency)))
}
