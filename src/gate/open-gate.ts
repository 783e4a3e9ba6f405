// The gate as it is configured.
import type { Config } from '#config.ts'
import type { Metrics } from '#core/metrics.ts'
import type { Redis } from '#redis/connect-redis.ts'
import { type Gate, noGate } from './gate.ts'
import { createRedisGate } from './redis-gate.ts'

/** A claim never outlives the hold it was made for: it begins before the hold and lasts no longer. */
export function openGate(
  { gate, gateTtlMs, holdTtlMs }: Pick<Config, 'gate' | 'gateTtlMs' | 'holdTtlMs'>,
  redis: Redis | null,
  metrics: Metrics,
): Gate {
  if (gate === 'none' || redis === null) return noGate
  return createRedisGate(redis, { ttlMs: Math.min(gateTtlMs, holdTtlMs), metrics })
}
