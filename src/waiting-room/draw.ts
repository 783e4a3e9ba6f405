// The draw among those who came before the opening: a place that follows from a committed seed and the visitor alone, so that anybody can work it out again.
import { hash } from 'node:crypto'

// 13 hexadecimal digits are 52 bits: exact in a double, which is what a sorted set of Redis keeps.
const DIGITS = 13
const RANGE = 2 ** (DIGITS * 4)

export type Draw = { seedHash: string; seed: string; order: string[] }

/** `seed`: 64 hexadecimal digits. What is published before anybody's place can be known. */
export function hashSeed(seed: string): string {
  return hash('sha256', Buffer.from(seed, 'hex'))
}

/**
 * The visitor's place as a score: the first 13 digits of SHA-256("<seed>.<visitor>"), moved below zero, so that all who took part stand before those who
 * came later (their scores are times, above zero). Equal scores are ordered by the visitor's text.
 */
export function drawScore(seed: string, visitor: string): number {
  return Number.parseInt(hash('sha256', `${seed}.${visitor}`).slice(0, DIGITS), 16) - RANGE
}

export function orderByDraw(seed: string, visitors: readonly string[]): string[] {
  const scored = visitors.map((visitor) => ({ visitor, score: drawScore(seed, visitor) }))
  scored.sort((a, b) => a.score - b.score || (a.visitor < b.visitor ? -1 : 1))
  return scored.map(({ visitor }) => visitor)
}

/** What is wrong with a published draw, in a sentence; null when seed and order are what was promised. */
export function faultOfDraw({ seedHash, seed, order }: Draw): string | null {
  if (hashSeed(seed) !== seedHash) return 'The seed is not the one whose hash was published.'
  if (new Set(order).size !== order.length) return 'Somebody stands in the order twice.'
  const right = orderByDraw(seed, order)
  const at = order.findIndex((visitor, place) => visitor !== right[place])
  return at < 0 ? null : `Place ${at + 1} is ${order[at]}'s, but the seed gives it to ${right[at]}.`
}
