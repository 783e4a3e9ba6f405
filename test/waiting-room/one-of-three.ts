// One of three processes on one Redis, for processes.test.ts: joins visitors of its own, moves the line and makes room, as fast as it can, for two seconds.
// `naive` admits as one would without scripts: asks how many are inside, then lets in as many as there is room for.
import { connectRedis, type Redis } from '#redis/connect-redis.ts'
import { redisStore } from '#waiting-room/redis-store.ts'
import { openRoomOf } from './two-stores.ts'

const [url = '', name = '', naive = ''] = process.argv.slice(2)
const redis = connectRedis([url], { commandTimeoutMs: 5_000 })
const store = redisStore(redis, { goneMs: 60_000, admissionTtlMs: 900_000 })
const room = openRoomOf({ activeMax: 20 })
await new Promise((resolve) => redis.once('ready', resolve))
const still = { ...room, status: 'PAUSED' as const }
const tried = performance.now() + 2_000
for (let n = 0; performance.now() < tried; n++) {
  await Promise.all(Array.from({ length: 20 }, (_, k) => store.join(naive ? still : room, `${name}-${n}-${k}`, -1)))
  await Promise.all(Array.from({ length: 8 }, () => (naive ? admitNaively(redis) : store.move(room))))
  const inside = await redis.zrange('{42}:wait:1:active', '0', '4')
  await store.leave(room, inside)
}
redis.disconnect()

async function admitNaively(on: Redis): Promise<void> {
  const free = 20 - (await on.zcard('{42}:wait:1:active'))
  if (free <= 0) return
  const next = await on.zrange('{42}:wait:1:line', '0', String(free - 1))
  for (const visitor of next) {
    await on.zrem('{42}:wait:1:line', visitor)
    await on.zadd('{42}:wait:1:active', 9_999_999_999_999, visitor)
  }
}
