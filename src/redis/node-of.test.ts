// The slot of a hash tag as Redis itself reckons it, and which of three servers it leads to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRedisCluster, untilReady } from '#test/support/redis.ts'
import { connectRedis } from './connect-redis.ts'
import { nodeOf, slotOf } from './node-of.ts'

test('slots are those of the specification', () => {
  assert.equal(slotOf('123456789'), 0x31c3)
  assert.equal(slotOf('foo'), 12_182)
})

test('of a cluster the server that has the slot, of a single server always the same', async (t) => {
  const { urls, nodes } = await startRedisCluster(t)
  const redis = connectRedis(urls)
  const single = connectRedis(['redis://127.0.0.1:1'])
  t.after(() => [redis, single].map((one) => one.disconnect()))
  await untilReady(redis)
  for (let show = 1; show <= 30; show++) {
    const slot = Number(await redis.cluster('KEYSLOT', `hf:{${show}}:F5`))
    assert.equal(slotOf(String(show)), slot)
    const port = nodes[Math.floor((slot * 3) / 16_384)]?.port
    assert.equal(nodeOf(redis, String(show)), `127.0.0.1:${port}`)
  }
  assert.equal(nodeOf(single, '1'), nodeOf(single, '2'))
})
