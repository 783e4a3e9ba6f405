// A customer's session as a token that carries its own proof: `cs_<customerId>.<expiry, Unix seconds>.<HMAC>`. Checking one costs no trip to the database,
// and every process that knows the secret agrees. The application's clock is good enough here: nothing is sold by it.
import { createHmac, timingSafeEqual } from 'node:crypto'

export const SESSION_TTL_S = 30 * 24 * 3600
const TOKEN = /^cs_([A-Za-z0-9_-]{1,80})\.([1-9][0-9]{9,11})\.([A-Za-z0-9_-]{43})$/

export function signSession(secret: Buffer, customerId: string, nowMs: number): { token: string; expiresAt: string } {
  const expiresAtS = Math.floor(nowMs / 1000) + SESSION_TTL_S
  const token = `cs_${customerId}.${expiresAtS}.${proof(secret, customerId, String(expiresAtS)).toString('base64url')}`
  return { token, expiresAt: new Date(expiresAtS * 1000).toISOString() }
}

/** The customer's id; null for a token that is malformed, not ours or over. */
export function verifySession(secret: Buffer, token: string, nowMs: number): string | null {
  const [, customerId, expiresAtS, given] = TOKEN.exec(token) ?? []
  if (!customerId || !expiresAtS || !given) return null
  const right = proof(secret, customerId, expiresAtS)
  if (!timingSafeEqual(right, Buffer.from(given, 'base64url'))) return null
  return nowMs < Number(expiresAtS) * 1000 ? customerId : null
}

function proof(secret: Buffer, customerId: string, expiresAtS: string): Buffer {
  return createHmac('sha256', secret).update(`${customerId}.${expiresAtS}`).digest()
}
