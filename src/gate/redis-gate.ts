// The gate made of seat locks: whoever asks the database for seats claims them in Redis first, so that the others of that moment need not ask.
// Whatever Redis does (away, slow, empty, full, lying), a buyer waits PATIENCE_MS at most and the database decides.
import { hash } from 'node:crypto'
import type { Metrics } from '#core/metrics.ts'
import type { Redis } from '#redis/connect-redis.ts'
import { nodeOf } from '#redis/node-of.ts'
import { type Breaker, createBreaker } from './breaker.ts'
import type { Gate } from './gate.ts'
import { createSeatLocks, newLockToken } from './seat-locks.ts'

export type RedisGateOptions = {
  /** How long a claim lasts at most: an attempt's time, never a hold's. */
  ttlMs: number
  metrics: Pick<Metrics, 'gateAnswers' | 'observe'>
}

// A healthy Redis answers in one or two; waiting longer costs a buyer more than the no it could say is worth.
const PATIENCE_MS = 100
const PROBE_TTL_MS = 1_000

export function createRedisGate(redis: Redis, { ttlMs, metrics }: RedisGateOptions): Gate {
  const locks = createSeatLocks(redis, { prefix: 'hf', ttlMaxMs: Math.max(ttlMs, PROBE_TTL_MS) })
  const breakers = new Map<string, Breaker>()
  const openNodes = () => [...breakers.values()].filter((breaker) => breaker.isOpen()).length
  metrics.observe(
    'holdfast_gate_nodes_skipped',
    'Redis servers the gate does not ask now, for they failed',
    openNodes,
    'max',
  )

  function breakerOf(inventoryId: number): Breaker {
    const node = nodeOf(redis, String(inventoryId))
    const breaker = breakers.get(node) ?? createBreaker()
    breakers.set(node, breaker)
    return breaker
  }

  /** The answer in time, or null. */
  async function ask<T>(breaker: Breaker, answer: Promise<T>): Promise<T | null> {
    const inTime = await withinPatience(answer)
    if (inTime === null) breaker.failed()
    else breaker.succeeded()
    return inTime
  }

  // Exactly what a claim does, at a name that no seat has.
  async function probe(breaker: Breaker, inventoryId: number): Promise<void> {
    const token = newLockToken()
    await ask(breaker, locks.holdAll(inventoryId, [`probe ${token}`], token, PROBE_TTL_MS))
  }

  return {
    async claim(inventoryId, seats, customerId) {
      if (seats.length === 0) return { outcome: 'OPEN' }
      const breaker = breakerOf(inventoryId)
      if (breaker.isOpen()) {
        if (breaker.mayProbe()) void probe(breaker, inventoryId)
        metrics.gateAnswers.inc({ outcome: 'skipped' })
        return { outcome: 'OPEN' }
      }
      const owner = ownerOf(inventoryId, customerId)
      const taken = await ask(breaker, locks.holdAll(inventoryId, seats, owner, ttlMs))
      if (taken === null) {
        // It may still happen when Redis goes on, long after this attempt: what undoes it stands right behind it on the same connection.
        locks.releaseAll(inventoryId, seats, owner).catch(() => {})
        metrics.gateAnswers.inc({ outcome: 'failed' })
        return { outcome: 'OPEN' }
      }
      metrics.gateAnswers.inc({ outcome: taken.length === 0 ? 'claimed' : 'taken' })
      return taken.length === 0 ? { outcome: 'CLAIMED' } : { outcome: 'TAKEN', seats: taken }
    },

    async free(inventoryId, seats, customerId) {
      const breaker = breakerOf(inventoryId)
      if (seats.length === 0 || breaker.isOpen()) return
      await ask(breaker, locks.releaseAll(inventoryId, seats, ownerOf(inventoryId, customerId)))
    },

    claimTtlMs: ttlMs,
    standsOpen: () => openNodes() > 0,
  }
}

// One for a customer and a show, not for an attempt: a retry, a second tab and a swap of seats are never in their own way. Hashed, so that Redis knows nobody.
function ownerOf(inventoryId: number, customerId: string): string {
  return hash('sha256', `${inventoryId} ${customerId}`, 'base64url').slice(0, 22)
}

// In a busy process the timer may be run before an answer is read that is there already: one more turn of the event loop reads it.
function withinPatience<T>(answer: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve, null), PATIENCE_MS)
    const settle = (value: T | null) => {
      clearTimeout(timer)
      resolve(value)
    }
    answer.then(settle, () => settle(null))
  })
}
