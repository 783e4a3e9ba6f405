// How often one may try to hold: a sliding minute for each customer, and a looser one for each address, because sessions cost nothing to open.
import { isIPv6 } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Metrics } from '#core/metrics.ts'
import { Problem } from '#core/problem.ts'
import { isStaff } from '#identity/caller.ts'

export type AttemptLimit = {
  /** Counts one attempt and sets the RateLimit headers. Throws TOO_MANY_ATTEMPTS with retryAfterSeconds. Staff are not counted. */
  take(request: FastifyRequest, reply: FastifyReply, customerId: string): void
}

const WINDOW_MS = 60_000
// A household, an office or a mobile carrier's gateway is one address.
const CUSTOMERS_AN_ADDRESS = 20
// Whoever is forgotten by this bound has not tried for long; about 20 MB when full.
const REMEMBERED_MAX = 100_000

/** `perMinute` 0: no limit. Kept in this process: with several, each allows as much. */
export function createAttemptLimit(
  perMinute: number,
  metrics: Pick<Metrics, 'holdAttemptsRefused'>,
  nowMs: () => number = () => Math.floor(performance.now()),
): AttemptLimit {
  const customers = slidingWindow(perMinute)
  const addresses = slidingWindow(perMinute * CUSTOMERS_AN_ADDRESS)
  return {
    take(request, reply, customerId) {
      if (perMinute === 0 || isStaff(request.caller)) return
      const now = nowMs()
      const waitMs = customers.take(customerId, now)
      reply.header('ratelimit-policy', `"holds";q=${perMinute};w=${WINDOW_MS / 1000}`)
      reply.header(
        'ratelimit',
        `"holds";r=${customers.left(customerId, now)};t=${seconds(customers.resetMs(customerId, now))}`,
      )
      if (waitMs > 0) throw refused('customer', waitMs)
      // A partner's customers all come from the partner's address.
      if (request.caller.kind === 'key') return
      const addressWaitMs = addresses.take(network(request.ip), now)
      if (addressWaitMs > 0) throw refused('address', addressWaitMs)
    },
  }

  function refused(per: 'customer' | 'address', waitMs: number): Problem {
    metrics.holdAttemptsRefused.inc({ per })
    return new Problem('TOO_MANY_ATTEMPTS', { limit: perMinute, per, retryAfterSeconds: seconds(waitMs) })
  }
}

/** The times of each one's attempts within the last minute; a refused attempt is not one of them. */
function slidingWindow(max: number) {
  const attempts = new LRUCache<string, number[]>({ max: REMEMBERED_MAX })
  const recent = (who: string, now: number) => (attempts.get(who) ?? []).filter((at) => at > now - WINDOW_MS)
  return {
    /** How long to wait, 0 when this attempt is allowed and counted. */
    take(who: string, now: number): number {
      const times = recent(who, now)
      const oldest = times[0]
      if (times.length >= max && oldest !== undefined) return oldest + WINDOW_MS - now
      attempts.set(who, [...times, now])
      return 0
    },
    left: (who: string, now: number) => Math.max(0, max - recent(who, now).length),
    resetMs: (who: string, now: number) => (recent(who, now)[0] ?? now - WINDOW_MS) + WINDOW_MS - now,
  }
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}

/** An IPv6 customer has a whole /64 to hop about in. */
export function network(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  const [head = '', tail = ''] = address.split('%', 1)[0]?.toLowerCase().split('::') ?? []
  const front = head.split(':').filter(Boolean)
  const back = tail.split(':').filter(Boolean)
  const groups = [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0'), ...back]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
