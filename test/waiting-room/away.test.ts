// Redis is away: nobody joins, who waits hears what they heard last, who was admitted still buys, and nobody else does; then it comes back empty.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '#core/metrics.ts'
import { connectRedis } from '#redis/connect-redis.ts'
import { smallHouse } from '#test/cinema/small-house.ts'
import { startRedis } from '#test/support/redis.ts'
import { openWaitingRooms } from '#waiting-room/waiting-rooms.ts'
import { queueScene, until } from './queue-scene.ts'

// The visitors' minute, long enough for a slow machine to start Redis in.
const GONE_MS = 30_000

test('Redis is killed and comes back empty: places and admissions outlive it, and it says no while it cannot know', async (t) => {
  const server = await startRedis(t)
  const redis = connectRedis([server.url])
  t.after(() => redis.disconnect())
  const house = await smallHouse(t, {}, {}, async (parts) => ({
    redis,
    waitingRooms: await openWaitingRooms({ ...parts, redis, metrics: createMetrics() }, GONE_MS),
  }))
  const scene = await queueScene(house)
  await until(
    () => redis.ping().catch(() => ''),
    (answer) => answer === 'PONG',
  )
  await scene.room({ status: 'OPEN', activeMax: 1 })
  const [ann, bob, cleo] = [house.customer(), house.customer(), house.customer()]
  const inside = (await scene.join(ann)).body
  const first = (await scene.join(bob)).body
  const second = (await scene.join(cleo)).body
  assert.deepEqual([inside.status, first.position, second.position], ['ADMITTED', 1, 2])

  await server.kill()
  const joining = await scene.join(house.customer())
  assert.deepEqual([joining.status, joining.body.code], [503, 'WAITING_ROOM_UNAVAILABLE'])
  assert.ok(Number(joining.headers['retry-after']) > 0)
  assert.equal((await scene.visit(second.ticket, cleo)).body.position, 2, 'what was said last')
  assert.equal((await scene.hold(ann, ['A5'], inside.admission)).status, 201, 'the signature is enough')
  assert.ok((await scene.hold(bob, ['B5'])).status >= 403, 'who waited does not come in')

  await server.start()
  await until(
    () => scene.visit(second.ticket, cleo),
    ({ status }) => status === 200,
  )
  await until(
    () => redis.ping().catch(() => ''),
    (answer) => answer === 'PONG',
  )
  const admitted = (await scene.visit(inside.ticket, ann, inside.admission)).body
  assert.deepEqual([admitted.status, admitted.admissionExpiresAt], ['ADMITTED', inside.admissionExpiresAt])
  // From behind: the order is that of the tickets, not of coming back.
  await scene.visit(second.ticket, cleo)
  assert.equal((await scene.visit(first.ticket, bob)).body.position, 1)
  assert.equal((await scene.visit(second.ticket, cleo)).body.position, 2)
})
