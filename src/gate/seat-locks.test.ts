// The contract of the seat locks, word for word on a real Redis and on a real cluster of three.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis, type Redis } from '#redis/connect-redis.ts'
import { startRedis, startRedisCluster, untilReady } from '#test/support/redis.ts'
import { createSeatLocks, newLockToken, type SeatLocks } from './seat-locks.ts'

const TTL_MS = 10_000
const ROUNDS = process.env.HOLDFAST_TEST_LONG ? 10_000 : 500

type Ground = { locks: SeatLocks; redis: Redis; rival: SeatLocks }
type Fact = { name: string; check: (ground: Ground) => Promise<void> }

const [ann, ben] = [newLockToken(), newLockToken()]
let show = 0
const newShow = () => ++show

const facts: Fact[] = [
  {
    name: 'all seats or none, and exactly those in the way are named',
    async check({ locks }) {
      const id = newShow()
      assert.deepEqual(await locks.holdAll(id, ['F6', 'F8'], ann, TTL_MS), [])
      assert.deepEqual(await locks.holdAll(id, ['F5', 'F6', 'F7', 'F8'], ben, TTL_MS), ['F6', 'F8'])
      assert.deepEqual(await locks.remaining(id, ['F5', 'F7'], ben), [0, 0])
      assert.equal(await locks.hold(id, 'F5', ben, TTL_MS), true)
      assert.equal(await locks.hold(id, 'F6', ben, TTL_MS), false)
    },
  },
  {
    name: 'the same token comes in again and begins a new time',
    async check({ locks }) {
      const id = newShow()
      await locks.holdAll(id, ['F5'], ann, 1_000)
      assert.deepEqual(await locks.holdAll(id, ['F5', 'F6'], ann, TTL_MS), [])
      const left = await locks.remaining(id, ['F5', 'F6'], ann)
      assert.ok(
        left.every((ms) => ms > TTL_MS - 1_000 && ms <= TTL_MS),
        `${left}`,
      )
    },
  },
  {
    name: 'only the token releases, and what is not its own is left as it is',
    async check({ locks }) {
      const id = newShow()
      await locks.holdAll(id, ['F5'], ann, TTL_MS)
      await locks.holdAll(id, ['F6'], ben, TTL_MS)
      assert.deepEqual(await locks.releaseAll(id, ['F5', 'F6', 'F7'], ben), ['F6'])
      assert.equal(await locks.hold(id, 'F5', ben, TTL_MS), false)
      assert.deepEqual(await locks.releaseAll(id, ['F5'], ann), ['F5'])
      assert.equal(await locks.hold(id, 'F5', ben, TTL_MS), true)
    },
  },
  {
    name: 'all are extended or none, by the token only',
    async check({ locks }) {
      const id = newShow()
      await locks.holdAll(id, ['F5', 'F6'], ann, 1_000)
      await locks.holdAll(id, ['F7'], ben, 1_000)
      assert.deepEqual(await locks.extendAll(id, ['F5', 'F6', 'F7', 'F8'], ann, TTL_MS), ['F7', 'F8'])
      assert.ok((await locks.remaining(id, ['F5', 'F6'], ann)).every((ms) => ms > 0 && ms <= 1_000))
      assert.deepEqual(await locks.extendAll(id, ['F5', 'F6'], ann, TTL_MS), [])
      assert.ok((await locks.remaining(id, ['F5', 'F6'], ann)).every((ms) => ms > 1_000))
    },
  },
  {
    name: 'a lock ends by itself: then it is another’s, and the old token can neither extend nor release it',
    async check({ locks }) {
      const id = newShow()
      await locks.hold(id, 'F5', ann, 60)
      await sleep(90)
      assert.deepEqual(await locks.remaining(id, ['F5'], ann), [0])
      assert.equal(await locks.hold(id, 'F5', ben, TTL_MS), true)
      assert.deepEqual(await locks.extendAll(id, ['F5'], ann, TTL_MS), ['F5'])
      assert.deepEqual(await locks.releaseAll(id, ['F5'], ann), [])
      assert.ok(((await locks.remaining(id, ['F5'], ben))[0] ?? 0) > 0)
    },
  },
  {
    name: 'two tokens race for overlapping seats: one has all of its own, the other none',
    async check({ locks, rival }) {
      for (let round = 0; round < ROUNDS; round++) {
        const id = newShow()
        const [a, b] = [newLockToken(), newLockToken()]
        const taken = await Promise.all([
          locks.holdAll(id, ['F5', 'F6'], a, TTL_MS),
          rival.holdAll(id, ['F7', 'F6'], b, TTL_MS),
        ])
        assert.deepEqual(taken.map((seats) => seats.join()).sort(), ['', 'F6'], `round ${round}`)
        const won = taken[0]?.length === 0 ? a : b
        const lost = won === a ? b : a
        const seats = won === a ? ['F5', 'F6'] : ['F7', 'F6']
        assert.ok(
          (await rival.remaining(id, seats, won)).every((ms) => ms > 0),
          `round ${round}`,
        )
        assert.deepEqual(await locks.remaining(id, ['F5', 'F6', 'F7'], lost), [0, 0, 0], `round ${round}`)
      }
    },
  },
  {
    name: 'what we did not write locks nothing: another type, a key without an end, an end beyond any lock’s',
    async check({ locks, redis }) {
      const id = newShow()
      await redis.rpush(`t:{${id}}:F5`, 'planted')
      await redis.set(`t:{${id}}:F6`, 'planted')
      await redis.set(`t:{${id}}:F7`, 'planted', 'PX', TTL_MS * 100)
      await redis.set(`t:{${id}}:F8`, 'planted', 'PX', TTL_MS)
      const planted = ['F5', 'F6', 'F7']
      assert.deepEqual(await locks.releaseAll(id, planted, ann), [])
      assert.deepEqual(await locks.extendAll(id, planted, ann, TTL_MS), planted)
      assert.deepEqual(await locks.remaining(id, planted, ann), [0, 0, 0])
      assert.deepEqual(await locks.holdAll(id, [...planted, 'F8'], ann, TTL_MS), ['F8'])
      assert.deepEqual(await locks.holdAll(id, planted, ann, TTL_MS), [])
      assert.ok((await locks.remaining(id, planted, ann)).every((ms) => ms > 0 && ms <= TTL_MS))
    },
  },
  {
    name: 'a server that forgot the scripts is told them again',
    async check({ locks, redis }) {
      const id = newShow()
      const forget = async () => {
        const nodes = 'nodes' in redis ? redis.nodes('master') : [redis]
        for (const node of nodes) await node.script('FLUSH')
      }
      await forget()
      assert.deepEqual(await locks.holdAll(id, ['F5'], ann, TTL_MS), [])
      await forget()
      assert.deepEqual(await locks.extendAll(id, ['F5'], ann, TTL_MS), [])
      await forget()
      assert.ok(((await locks.remaining(id, ['F5'], ann))[0] ?? 0) > 0)
      await forget()
      assert.deepEqual(await locks.releaseAll(id, ['F5'], ann), ['F5'])
    },
  },
  {
    name: 'seat codes may be anything: braces, spaces, letters of any script',
    async check({ locks }) {
      const id = newShow()
      const seats = ['{1}', '}{', 'Loge links 3', 'פ', '座']
      assert.deepEqual(await locks.holdAll(id, seats, ann, TTL_MS), [])
      assert.deepEqual(await locks.holdAll(id, seats, ben, TTL_MS), seats)
      assert.deepEqual(await locks.releaseAll(id, seats, ann), seats)
    },
  },
]

async function ground(urls: string[], t: TestContext): Promise<Ground> {
  const [redis, other] = [connectRedis(urls, PATIENT), connectRedis(urls, PATIENT)]
  t.after(() => [redis, other].map((one) => one.disconnect()))
  for (const one of [redis, other]) await untilReady(one)
  const options = { prefix: 't', ttlMaxMs: TTL_MS }
  return { redis, locks: createSeatLocks(redis, options), rival: createSeatLocks(other, options) }
}

// What is tested here is what the locks say, not how quickly on a machine that runs other tests beside.
const PATIENT = { commandTimeoutMs: 5_000 }

test('one server', async (t) => {
  const on = await ground([(await startRedis(t)).url], t)
  for (const { name, check } of facts) await t.test(name, () => check(on))
})

test('a cluster of three', async (t) => {
  const on = await ground((await startRedisCluster(t)).urls, t)
  for (const { name, check } of facts) await t.test(name, () => check(on))
})

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
