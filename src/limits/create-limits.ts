// How often one identity may try, and how often it may keep the same seats from others: the words the doors use. Decisions: docs/decisions/0011-limits.md.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '#config.ts'
import type { Metrics } from '#core/metrics.ts'
import { Problem } from '#core/problem.ts'
import { isStaff } from '#identity/caller.ts'
import type { Redis } from '#redis/connect-redis.ts'
import { ATTEMPTS_WINDOW_MS, type Cooling, type Holder, type Taken } from './limit-store.ts'
import { memoryLimitStore } from './memory-limit-store.ts'
import { network } from './network.ts'
import { redisLimitStore } from './redis-limit-store.ts'
import { sharedOrLocal } from './shared-or-local.ts'

export type Limits = ReturnType<typeof createLimits>

type LimitsParts = {
  config: Pick<Config, 'holdAttemptsPerMinute' | 'partnerAttemptsPerMinute' | 'sessionsPerMinute'>
  redis: Redis | null
  metrics: Pick<Metrics, 'attemptsRefused' | 'limitsAlone'>
}

type SeatsOfShow = { customerId: string; inventoryId: number; seats: readonly string[] }

// A household, an office or a mobile carrier's gateway is one address.
const CUSTOMERS_AN_ADDRESS = 20
const NOTHING: Cooling = new Map()

/**
 * HOLD_ATTEMPTS_PER_MINUTE 0 is a house without any limit of this room: for load tests, where thousands come from one address. Staff never have one.
 * `nowMs` is the clock of the limits kept in this process; those in Redis have Redis' clock.
 */
export function createLimits({ config, redis, metrics }: LimitsParts, nowMs?: () => number) {
  const local = memoryLimitStore(nowMs)
  const store =
    redis === null
      ? local
      : sharedOrLocal({ redis, local, shared: redisLimitStore(redis) }, () => metrics.limitsAlone.inc())
  const { holdAttemptsPerMinute: perMinute, partnerAttemptsPerMinute, sessionsPerMinute } = config
  const unlimited = (request: FastifyRequest) => perMinute === 0 || isStaff(request.caller)

  return {
    /**
     * Before a hold: counts the attempt for the customer, then for the partner's key or the customer's address, and sets the RateLimit headers.
     * `seats` null: the server chooses; then answers the seats it should not choose, because this customer or address has given each up again and again.
     * Throws TOO_MANY_ATTEMPTS {limit, per}, or HOLD_CYCLING {seats} when one of `seats` is such a seat; both with retryAfterSeconds.
     */
    async attemptHold(
      request: FastifyRequest,
      reply: FastifyReply,
      { customerId, inventoryId, seats }: Omit<SeatsOfShow, 'seats'> & { seats: readonly string[] | null },
    ): Promise<Cooling> {
      if (unlimited(request)) return NOTHING
      const holder = holderOf(request, customerId)
      const [own, cooling] = await Promise.all([
        store.take(`customer ${customerId}`, perMinute),
        store.cooling(inventoryId, holder, seats),
      ])
      judge(reply, 'holds', perMinute, own, 'customer')
      // Only an attempt the customer may make counts here: one who hammers must not use up what others have at that address.
      if (holder.network !== null) {
        const max = perMinute * CUSTOMERS_AN_ADDRESS
        const taken = await store.take(`address ${holder.network}`, max)
        // What is left at an address tells about strangers; said only when nothing is.
        if (taken.waitMs > 0) judge(reply, 'address', max, taken, 'address')
      } else if (partnerAttemptsPerMinute > 0 && request.caller.kind === 'key') {
        const taken = await store.take(`key ${request.caller.keyId}`, partnerAttemptsPerMinute)
        judge(reply, 'partner', partnerAttemptsPerMinute, taken, 'partner')
      }
      if (seats !== null && cooling.size > 0) throw tooOftenGivenUp(cooling)
      return cooling
    },

    /** After a new hold. Waits for nobody: what is forgotten here is a cool-down that comes one hold later. */
    held(request: FastifyRequest, { customerId, inventoryId, seats }: SeatsOfShow, forMs: number): void {
      if (unlimited(request)) return
      void store.held(inventoryId, holderOf(request, customerId), seats, forMs)
    },

    /** After a hold was given back. The end of one that runs out is known already. */
    letGo(request: FastifyRequest, { customerId, inventoryId, seats }: SeatsOfShow): void {
      if (unlimited(request)) return
      void store.letGo(inventoryId, holderOf(request, customerId), seats)
    },

    /** Before a session is opened: whoever has none yet is their address. Renewing one is free. Throws TOO_MANY_ATTEMPTS. */
    async openSession(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (sessionsPerMinute === 0 || request.caller.kind === 'customer' || unlimited(request)) return
      const taken = await store.take(`sessions ${network(request.ip)}`, sessionsPerMinute)
      judge(reply, 'sessions', sessionsPerMinute, taken, 'sessions')
    },
  }

  function judge(reply: FastifyReply, policy: string, max: number, taken: Taken, per: string): void {
    sayRateLimit(reply, policy, max, taken)
    if (taken.waitMs === 0) return
    metrics.attemptsRefused.inc({ per })
    throw new Problem('TOO_MANY_ATTEMPTS', { limit: max, per, retryAfterSeconds: seconds(taken.waitMs) })
  }

  function tooOftenGivenUp(cooling: Cooling): Problem {
    metrics.attemptsRefused.inc({ per: 'given_up' })
    const seats = [...cooling.keys()].map((code) => ({ code, reason: 'given_up' }))
    return new Problem('HOLD_CYCLING', { seats, retryAfterSeconds: seconds(Math.max(...cooling.values())) })
  }
}

function holderOf({ caller, ip }: FastifyRequest, customerId: string): Holder {
  return { customerId, network: caller.kind === 'key' ? null : network(ip) }
}

/** draft-ietf-httpapi-ratelimit-headers: lists, to which a second policy is added. */
function sayRateLimit(reply: FastifyReply, policy: string, max: number, { left, resetMs }: Taken): void {
  add('ratelimit-policy', `"${policy}";q=${max};w=${ATTEMPTS_WINDOW_MS / 1000}`)
  add('ratelimit', `"${policy}";r=${left};t=${seconds(resetMs)}`)

  function add(name: string, item: string): void {
    const before = reply.getHeader(name)
    reply.header(name, before === undefined ? item : `${before}, ${item}`)
  }
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
