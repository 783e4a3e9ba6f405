// Public ids: a word, the number that finds the shard, and for what is secret by guessing, 128 random bits. `show_42`, `hold_42_0198f...`.
import { randomUUID } from 'node:crypto'
import { Problem } from './problem.ts'

const NUMBERED = /^([a-z]+)_([1-9][0-9]{0,14})$/
const SHARDED = /^([a-z]+)_([1-9][0-9]{0,14})_([0-9a-f]{32})$/

export type ShardedId = { inventoryId: number; uuid: string }

export function newUuid(): string {
  return randomUUID()
}

export function formatNumbered(word: string, id: number): string {
  return `${word}_${id}`
}

export function formatSharded(word: string, inventoryId: number, uuid: string): string {
  return `${word}_${inventoryId}_${uuid.replaceAll('-', '')}`
}

/** A malformed id is answered like an unknown one: 404. */
export function parseNumbered(word: string, text: string): number {
  const match = NUMBERED.exec(text)
  if (match?.[1] !== word) throw new Problem('NOT_FOUND')
  return Number(match[2])
}

export function parseSharded(word: string, text: string): ShardedId {
  const match = SHARDED.exec(text)
  const hex = match?.[3]
  if (match?.[1] !== word || !hex) throw new Problem('NOT_FOUND')
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  return { inventoryId: Number(match[2]), uuid }
}
