// Which server of a cluster answers for a hash tag, so that one that is away is not held against the others.
import { Cluster } from 'ioredis'
import type { Redis } from './connect-redis.ts'

const SLOTS = 16_384
const POLYNOMIAL = 0x1021

/** Its address; '' for a single server, and for a slot that nobody answers for at this moment. */
export function nodeOf(redis: Redis, hashTag: string): string {
  return redis instanceof Cluster ? (redis.slots[slotOf(hashTag)]?.[0] ?? '') : ''
}

/** Redis Cluster's own rule: CRC16 (XMODEM) of the tag, modulo the number of slots. */
export function slotOf(hashTag: string): number {
  let crc = 0
  for (const byte of Buffer.from(hashTag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1) & 0xffff
  }
  return crc % SLOTS
}
