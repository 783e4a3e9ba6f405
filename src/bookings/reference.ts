// The booking reference: six characters a person can read out over a bad line and type at a door.
import { randomInt } from 'node:crypto'
import type { Tx } from '#database/connect.ts'

// Without 0 O 1 I L, which are taken for each other, and without vowels, so that no word comes out. 27^6 are 387 million.
const LETTERS = '23456789BCDFGHJKMNPQRSTVWXZ'
const LENGTH = 6
const TRIES_MAX = 20

export function isReference(text: string): boolean {
  return text.length === LENGTH && [...text].every((letter) => LETTERS.includes(letter))
}

/**
 * One that no booking has yet, of whatever inventory. Two that are drawn at the same moment for two inventories could still be the same (one in
 * hundreds of millions): a unique index over all inventories would keep the database from being distributed, and nothing is found by reference alone.
 */
export async function newReference(tx: Tx, draw: () => string = drawReference): Promise<string> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const reference = draw()
    const taken = await tx`select 1 from bookings where reference = ${reference} limit 1`
    if (taken.count === 0) return reference
  }
  throw new Error(`${TRIES_MAX} booking references in a row were taken`)
}

function drawReference(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
