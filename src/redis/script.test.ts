// Scripts on a real Redis and a real cluster: by hash, after the server forgot them, and while it is stopped or away.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis, startRedisCluster } from '#test/support/redis.ts'
import { connectRedis } from './connect-redis.ts'
import { runScript, script } from './script.ts'

const add = script("return redis.call('INCRBY', KEYS[1], ARGV[1])")

async function ready(work: () => Promise<unknown>): Promise<unknown> {
  for (let left = 100; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (left === 0) throw error
      await sleep(50)
    }
  }
}

test('a script the server forgot is sent again by its text', async (t) => {
  const server = await startRedis(t)
  const redis = connectRedis([server.url])
  t.after(() => redis.disconnect())
  assert.equal(await ready(() => runScript(redis, add, ['{1}:n'], [2])), 2)
  await redis.script('FLUSH')
  assert.equal(await runScript(redis, add, ['{1}:n'], [3]), 5)
})

test('a hung server costs the time limit, one that is away nothing, and both are found again', async (t) => {
  const server = await startRedis(t)
  const redis = connectRedis([server.url], { commandTimeoutMs: 150 })
  t.after(() => redis.disconnect())
  await ready(() => redis.ping())
  server.hang()
  const beganMs = performance.now()
  await assert.rejects(redis.ping())
  assert.ok(performance.now() - beganMs < 400, `took ${performance.now() - beganMs} ms`)
  server.goOn()
  await ready(() => redis.ping())
  await server.kill()
  await sleep(100)
  const goneMs = performance.now()
  await assert.rejects(redis.ping())
  assert.ok(performance.now() - goneMs < 150)
  await server.start()
  await ready(() => redis.ping())
})

test('a cluster runs scripts on every node', async (t) => {
  const { urls } = await startRedisCluster(t)
  const redis = connectRedis(urls)
  t.after(() => redis.disconnect())
  await ready(() => redis.set('{warm}', 1))
  for (let show = 1; show <= 50; show++)
    assert.equal(await ready(() => runScript(redis, add, [`{${show}}:n`], [show])), show)
})
