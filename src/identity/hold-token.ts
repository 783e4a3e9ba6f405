// The secret that proves who holds: derived from the hold's id, so that a repeated request gets the same one although only its hash is stored.
import { hash, timingSafeEqual } from 'node:crypto'
import type { Mac } from './mac.ts'

const TOKEN = /^ht_[A-Za-z0-9_-]{43}$/

/** `holdUuid` as the database writes it. */
export function holdTokenOf(mac: Mac, holdUuid: string): string {
  return `ht_${mac(holdUuid).toString('base64url')}`
}

/** 64 hex digits, as the store keeps it. */
export function hashHoldToken(token: string): string {
  return hash('sha256', token)
}

export function isHoldToken(text: string): boolean {
  return TOKEN.test(text)
}

/** In constant time; false without a token. */
export function provesHold(token: string | null, tokenHash: string): boolean {
  if (token === null) return false
  return timingSafeEqual(Buffer.from(hashHoldToken(token), 'hex'), Buffer.from(tokenHash, 'hex'))
}
