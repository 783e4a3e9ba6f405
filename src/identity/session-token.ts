// A customer's session as a token that carries its own proof: `cs_<customerId>.<expiry, Unix seconds>.<HMAC>`. Checking one costs no trip to the database,
// and every process that knows the secret agrees. The application's clock is good enough here: nothing is sold by it.
import { timingSafeEqual } from 'node:crypto'
import type { Mac } from './mac.ts'

export const SESSION_TTL_S = 30 * 24 * 3600
const TOKEN = /^cs_([A-Za-z0-9_-]{1,80})\.([1-9][0-9]{9,11})\.([A-Za-z0-9_-]{43})$/

export function signSession(mac: Mac, customerId: string, nowMs: number): { token: string; expiresAt: string } {
  const expiresAtS = Math.floor(nowMs / 1000) + SESSION_TTL_S
  const token = `cs_${customerId}.${expiresAtS}.${mac(`${customerId}.${expiresAtS}`).toString('base64url')}`
  return { token, expiresAt: new Date(expiresAtS * 1000).toISOString() }
}

/** The customer's id; null for a token that is malformed, not ours or over. */
export function verifySession(mac: Mac, token: string, nowMs: number): string | null {
  const [, customerId, expiresAtS, given] = TOKEN.exec(token) ?? []
  if (!customerId || !expiresAtS || !given) return null
  const right = mac(`${customerId}.${expiresAtS}`)
  if (!timingSafeEqual(right, Buffer.from(given, 'base64url'))) return null
  return nowMs < Number(expiresAtS) * 1000 ? customerId : null
}
