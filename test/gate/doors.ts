// Two processes as PostgreSQL and Redis see them: each with pools, a combiner, a connection to Redis and a gate of its own, sharing nothing else.
import type { TestContext } from 'node:test'
import { loadConfig } from '#config.ts'
import { createMetrics } from '#core/metrics.ts'
import { createRedisGate } from '#gate/redis-gate.ts'
import type { PlaceHoldParts } from '#holds/place-hold.ts'
import { loadSecrets } from '#identity/secrets.ts'
import { createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { connectRedis } from '#redis/connect-redis.ts'
import type { TestDatabase } from '#test/support/database.ts'
import { untilReady } from '#test/support/redis.ts'

export type Door = PlaceHoldParts & { wake: () => void; gateAnswers: () => Promise<Record<string, number>> }

/** Nobody looks at a board here, so that every wish comes to the gate. */
const NO_BOARDS: PlaceHoldParts['boards'] = { refused: () => {}, changed: () => {} }
const POOL = { lockTimeoutMs: 2_000, statementTimeoutMs: 5_000 }

export async function openDoors(
  t: TestContext,
  db: TestDatabase,
  { urls, ttlMs }: { urls: string[]; ttlMs: number },
): Promise<Door[]> {
  const config = loadConfig({})
  const secrets = await loadSecrets(db.sql)
  const doors: Door[] = []
  for (let process = 0; process < 2; process++) {
    const redis = connectRedis(urls)
    await untilReady(redis)
    const metrics = createMetrics()
    const combiner = createCombiner(postgresStore(db.connect(4, POOL)))
    t.after(async () => {
      redis.disconnect()
      await combiner.close()
    })
    doors.push({
      ...{ sql: db.connect(4, POOL), combiner, secrets, config, metrics, boards: NO_BOARDS, wake: () => {} },
      gate: createRedisGate(redis, { ttlMs, metrics }),
      gateAnswers: async () => {
        const { values } = await metrics.gateAnswers.get()
        return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
      },
    })
  }
  return doors
}
