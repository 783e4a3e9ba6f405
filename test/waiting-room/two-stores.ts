// The stores of visitors a test runs against: this process's memory, a Redis server, a Redis Cluster; all with the same rules.
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis } from '#redis/connect-redis.ts'
import { startRedis, startRedisCluster } from '#test/support/redis.ts'
import { memoryStore } from '#waiting-room/memory-store.ts'
import { redisStore } from '#waiting-room/redis-store.ts'
import type { Room, RoomStore, StoreRules } from '#waiting-room/room-store.ts'

/** Each with its name and a way to make it; a store that a round of its own is begun in is as good as new. */
export const STORES: [string, (t: TestContext, rules: StoreRules) => Promise<RoomStore>][] = [
  ['memory', async (_t, rules) => memoryStore(rules)],
  ['Redis', async (t, rules) => openRedisStore(t, [(await startRedis(t)).url], rules)],
  ['Redis Cluster', async (t, rules) => openRedisStore(t, (await startRedisCluster(t)).urls, rules)],
]

export async function openRedisStore(
  t: Pick<TestContext, 'after'>,
  urls: string[],
  rules: StoreRules,
): Promise<RoomStore> {
  const redis = connectRedis(urls, { commandTimeoutMs: 2_000 })
  t.after(() => redis.disconnect())
  for (let left = 100; ; left--) {
    const answered = await redis.get('{1}').then(
      () => true,
      () => left === 0,
    )
    if (answered) break
    await sleep(50)
  }
  return redisStore(redis, rules)
}

export function openRoomOf(settings: Partial<Room> = {}): Room {
  return { inventoryId: 42, round: 1, status: 'OPEN', activeMax: 2, admitPerMinute: null, selling: true, ...settings }
}
