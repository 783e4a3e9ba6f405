// Standard Webhooks: how a message proves who sent it and when. Signs and verifies the bytes as they are, never JSON that was parsed and written anew.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Problem } from './problem.ts'

/** Either way round: a message of the future is as suspect as an old one. */
export const TOLERANCE_S = 300

export type SignedHeaders = { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string }

/** `at` is RFC 3339. Several secrets make several signatures, one for each side of a rotation. */
export function signWebhook(secrets: Buffer[], id: string, at: string, rawBody: Buffer): SignedHeaders {
  const timestamp = String(Math.floor(Date.parse(at) / 1000))
  const signatures = secrets.map((secret) => `v1,${digest(secret, id, timestamp, rawBody).toString('base64')}`)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** Answers the message's id. Any of our secrets may fit any of its signatures. `now` is the database's time. Throws SIGNATURE_INVALID. */
export function verifyWebhook(secrets: Buffer[], headers: IncomingHttpHeaders, rawBody: Buffer, now: string): string {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signature = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string') {
    throw new Problem('SIGNATURE_INVALID', {
      detail: 'webhook-id, webhook-timestamp and webhook-signature are needed.',
    })
  }
  const ageS = Date.parse(now) / 1000 - Number(timestamp)
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(ageS) > TOLERANCE_S) throw new Problem('SIGNATURE_INVALID')
  // Letters, not what they decode to, so that nothing may stand behind them.
  const given = signature.split(' ').flatMap((one) => (one.startsWith('v1,') ? Buffer.from(one.slice(3)) : []))
  // Every pair is compared, and each in constant time, so that the time taken says nothing.
  const fits = secrets.map((secret) => {
    const expected = Buffer.from(digest(secret, id, timestamp, rawBody).toString('base64'))
    return given.filter((one) => one.length === expected.length && timingSafeEqual(one, expected)).length
  })
  if (fits.every((count) => count === 0)) throw new Problem('SIGNATURE_INVALID')
  return id
}

function digest(secret: Buffer, id: string, timestamp: string, rawBody: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(rawBody).digest()
}
