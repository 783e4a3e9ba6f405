// The contract of the seat locks, word for word on a real Redis and on a real cluster of three.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { connectRedis } from '#redis/connect-redis.ts'
import { type LockGround, lockFacts, LOCK_TTL_MS as TTL_MS } from '#test/gate/lock-facts.ts'
import { startRedis, startRedisCluster, untilReady } from '#test/support/redis.ts'
import { createSeatLocks, newLockToken } from './seat-locks.ts'

const ROUNDS = process.env.HOLDFAST_TEST_LONG ? 10_000 : 200

async function ground(urls: string[], t: TestContext): Promise<LockGround> {
  const [redis, other] = [connectRedis(urls, PATIENT), connectRedis(urls, PATIENT)]
  t.after(() => [redis, other].map((one) => one.disconnect()))
  for (const one of [redis, other]) await untilReady(one)
  const options = { prefix: 't', ttlMaxMs: TTL_MS }
  return { redis, rounds: ROUNDS, locks: createSeatLocks(redis, options), rival: createSeatLocks(other, options) }
}

// What is tested here is what the locks say, not how quickly on a machine that runs other tests beside.
const PATIENT = { commandTimeoutMs: 5_000 }

test('one server', async (t) => {
  const on = await ground([(await startRedis(t)).url], t)
  for (const { name, check } of lockFacts) await t.test(name, () => check(on))
})

test('a cluster of three', async (t) => {
  const on = await ground((await startRedisCluster(t)).urls, t)
  for (const { name, check } of lockFacts) await t.test(name, () => check(on))
})

const ann = newLockToken()

test('what makes no sense is refused before anything is sent', async () => {
  const nobody = connectRedis(['redis://127.0.0.1:1'])
  const locks = createSeatLocks(nobody, { prefix: 't', ttlMaxMs: TTL_MS })
  const nonsense: [string[], string, number, RegExp][] = [
    [[], ann, TTL_MS, /no seats/],
    [['F5', 'F6', 'F5'], ann, TTL_MS, /twice/],
    [['F5'], '', TTL_MS, /token/],
    [['F5'], ann, 0, /0 ms/],
    [['F5'], ann, 1.5, /1.5 ms/],
    [['F5'], ann, TTL_MS + 1, /ms/],
    [Array.from({ length: 1_001 }, (_, n) => `F${n}`), ann, TTL_MS, /most/],
  ]
  for (const [seats, token, ttlMs, message] of nonsense) {
    await assert.rejects(locks.holdAll(1, seats, token, ttlMs), { name: 'RangeError', message })
    await assert.rejects(locks.extendAll(1, seats, token, ttlMs), { name: 'RangeError', message })
  }
  await assert.rejects(locks.releaseAll(1, [], ann), RangeError)
  await assert.rejects(locks.remaining(1, ['F5', 'F5'], ann), RangeError)
  await assert.rejects(locks.hold(1.5, 'F5', ann, TTL_MS), RangeError)
  assert.throws(() => createSeatLocks(nobody, { prefix: '{a}' }), RangeError)
  nobody.disconnect()
})

test('tokens are made by chance: 22 characters, never the same', () => {
  const tokens = Array.from({ length: 10_000 }, newLockToken)
  assert.equal(new Set(tokens).size, tokens.length)
  assert.ok(tokens.every((token) => /^[\w-]{22}$/.test(token)))
})
