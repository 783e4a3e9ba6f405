// One contract, two stores: memory and a real Redis, whose clock the test sets. What holds for one holds for the other, also over random histories.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Redis } from '#redis/connect-redis.ts'
import { connectRedis } from '#redis/connect-redis.ts'
import { runScript } from '#redis/script.ts'
import { chance, printedSeed } from '#test/races/processes.ts'
import { startRedis, startRedisCluster } from '#test/support/redis.ts'
import { TAKE } from './limit-scripts.ts'
import { GIVEN_UP_WINDOW_MS, type Holder, type LimitStore } from './limit-store.ts'
import { memoryLimitStore } from './memory-limit-store.ts'
import { redisLimitStore } from './redis-limit-store.ts'

const START_MS = 1_800_000_000_000
const MINUTE_MS = 60_000

type Clock = { nowMs: number }

// Everything but the time is the server's own.
function clocked(redis: Redis, clock: Clock): Redis {
  const timed = {
    evalsha: () => Promise.reject(new Error('NOSCRIPT')),
    eval(lua: string, ...rest: [number, ...string[]]) {
      const micros = (clock.nowMs % 1000) * 1000
      return redis.eval(lua.replace("redis.call('TIME')", `{ ${Math.floor(clock.nowMs / 1000)}, ${micros} }`), ...rest)
    },
  }
  return timed as unknown as Redis
}

async function stores(t: Parameters<typeof startRedis>[0]) {
  const server = await startRedis(t)
  const redis = connectRedis([server.url], { commandTimeoutMs: 5_000 })
  t.after(() => redis.disconnect())
  await new Promise((resolve) => redis.once('ready', resolve))
  const clock = { nowMs: START_MS }
  const made: [name: string, store: LimitStore][] = [
    ['memory', memoryLimitStore(() => clock.nowMs)],
    ['Redis', redisLimitStore(clocked(redis, clock))],
  ]
  return { redis, clock, made }
}

const person = (customerId: string, network: string | null = '192.0.2.1'): Holder => ({ customerId, network })

test('attempts: max in a minute, exact at its end, and refused ones do not count', async (t) => {
  const { clock, made } = await stores(t)
  for (const [name, store] of made) {
    const at = async (ms: number, max = 3) => {
      clock.nowMs = START_MS + ms
      return store.take(`ann ${name}`, max)
    }
    assert.deepEqual(await at(0), { waitMs: 0, left: 2, resetMs: 60_000 }, name)
    assert.deepEqual(await at(10), { waitMs: 0, left: 1, resetMs: 59_990 }, name)
    assert.deepEqual(await at(20_000), { waitMs: 0, left: 0, resetMs: 40_000 }, name)
    for (const ms of [20_001, 40_000, 59_999])
      assert.deepEqual(await at(ms), { waitMs: 60_000 - ms, left: 0, resetMs: 60_000 - ms }, `${name} at ${ms}`)
    assert.deepEqual(await at(60_000), { waitMs: 0, left: 0, resetMs: 10 }, name)
    assert.equal((await at(60_009)).waitMs, 1, name)
    // A lower limit, as one process has while a new configuration is rolled out: two of the three must be forgotten.
    assert.equal((await at(60_009, 2)).waitMs, 19_991, name)
  }
})

test('three times given up within half an hour: the seat cools down for the customer and the address, and for nobody else', async (t) => {
  const { clock, made } = await stores(t)
  for (const [name, store] of made) {
    clock.nowMs = START_MS
    const [ann, elsewhere] = [person('ann'), person('eve', '198.51.100.1')]
    for (let n = 0; n < 3; n++) {
      assert.equal((await store.cooling(1, ann, ['F5'])).size, 0, `${name}: attempt ${n + 1}`)
      await store.held(1, ann, ['F5', 'F6'], 600_000)
      clock.nowMs += MINUTE_MS
      await store.letGo(1, ann, ['F5', 'F6'])
    }
    const waits = [['F5', GIVEN_UP_WINDOW_MS - 2 * MINUTE_MS]]
    assert.deepEqual([...(await store.cooling(1, ann, ['F5', 'G1']))], waits, name)
    assert.deepEqual([...(await store.cooling(1, person('another session'), ['F5'])).keys()], ['F5'], name)
    assert.deepEqual([...(await store.cooling(1, person('ann', '203.0.113.1'), ['F5'])).keys()], ['F5'], name)
    assert.deepEqual([...(await store.cooling(1, ann, null)).keys()].sort(), ['F5', 'F6'], name)
    assert.equal((await store.cooling(1, elsewhere, ['F5'])).size, 0, name)
    assert.equal((await store.cooling(1, person('a partner’s customer', null), null)).size, 0, name)
    assert.equal((await store.cooling(2, ann, ['F5'])).size, 0, `${name}: another show`)
    clock.nowMs += GIVEN_UP_WINDOW_MS - 2 * MINUTE_MS - 1
    assert.equal((await store.cooling(1, ann, ['F5'])).size, 1, name)
    clock.nowMs += 1
    assert.equal((await store.cooling(1, ann, ['F5'])).size, 0, name)
  }
})

test('holds that run out are given up as well; new sessions at one address do not begin anew', async (t) => {
  const { clock, made } = await stores(t)
  for (const [name, store] of made) {
    clock.nowMs = START_MS
    for (let n = 0; n < 3; n++) {
      await store.held(1, person(`session-${n}`), ['F5'], 600_000)
      clock.nowMs += 600_000
    }
    assert.equal((await store.cooling(1, person('session-3'), ['F5'])).get('F5'), 600_000, name)
  }
})

test('changing the choice gives nothing up: a seat that stays is held on; one that is dropped is given up', async (t) => {
  const { clock, made } = await stores(t)
  for (const [name, store] of made) {
    clock.nowMs = START_MS
    for (const choice of [['F5'], ['F5', 'F6'], ['F5', 'F6', 'F7'], ['F5', 'F7'], ['F5', 'F8']]) {
      await store.held(1, person('ann'), choice, 600_000)
      clock.nowMs += 1_000
    }
    await store.letGo(1, person('ann'), ['F5', 'F8'])
    assert.equal((await store.cooling(1, person('ann'), null)).size, 0, name)

    for (const choice of [['A1'], ['B1'], ['A1'], ['B1'], ['A1'], ['B1']]) {
      await store.held(2, person('bob'), choice, 600_000)
      clock.nowMs += 1_000
    }
    assert.deepEqual([...(await store.cooling(2, person('bob'), null)).keys()], ['A1'], name)
  }
})

test('a seat released from elsewhere and held by a new session of the same address has still been given up there', async (t) => {
  const { clock, made } = await stores(t)
  for (const [name, store] of made) {
    clock.nowMs = START_MS
    for (let n = 0; n < 4; n++) {
      await store.held(1, person(`s${n}`), ['F5'], 600_000)
      clock.nowMs += 1_000
      await store.letGo(1, person(`s${n}`, '198.51.100.9'), ['F5'])
    }
    assert.equal((await store.cooling(1, person('s4'), ['F5'])).size, 1, name)
  }
})

test('random histories: both stores answer alike', async (t) => {
  const { clock, made } = await stores(t)
  const below = chance(printedSeed())
  const [memory, redis] = made.map(([, store]) => store) as [LimitStore, LimitStore]
  let cooled = 0
  for (let step = 0; step < 1_500; step++) {
    clock.nowMs += below(4) === 0 ? below(600_000) : below(1_000)
    const holder = person(`c${below(4)}`, below(5) === 0 ? null : `192.0.2.${below(2)}`)
    const seats = ['A1', 'A2', 'A3'].filter(() => below(2) === 0)
    const ask = async (store: LimitStore, what: number) => {
      if (what === 0) return store.take(holder.customerId, 3)
      if (what === 1) return store.letGo(1, holder, seats.length > 0 ? seats : ['A1'])
      if (what === 2) return store.held(1, holder, seats.length > 0 ? seats : ['A1'], 600_000)
      return [...(await store.cooling(1, holder, seats.length > 0 ? seats : null))].sort()
    }
    const what = below(4)
    const answer = await ask(memory, what)
    assert.deepEqual(answer, await ask(redis, what), `step ${step}, question ${what}`)
    if (Array.isArray(answer) && answer.length > 0) cooled += 1
  }
  assert.ok(cooled > 20, `the histories led to only ${cooled} cool-downs`)
})

test('by Redis’ own clock: refused until the wait it named is over, forgotten when nobody tries, and not stretched by a clock set back', async (t) => {
  const { redis } = await stores(t)
  const take = async (key: string) => (await runScript(redis, TAKE, [key], [300, 2])) as [number, number, number]
  assert.equal((await take('k'))[0], 0)
  assert.equal((await take('k'))[0], 0)
  const [waitMs] = await take('k')
  assert.ok(waitMs > 0 && waitMs <= 300, `${waitMs} ms`)
  await new Promise((resolve) => setTimeout(resolve, waitMs + 1))
  assert.equal((await take('k'))[0], 0)
  await new Promise((resolve) => setTimeout(resolve, 400))
  assert.equal(await redis.exists('k'), 0)

  await redis.rpush('ahead', String((Date.now() + 600_000) * 1000), String((Date.now() + 600_000) * 1000))
  assert.equal((await take('ahead'))[0], 0)
})

test('a cluster takes every question', async (t) => {
  const { urls } = await startRedisCluster(t)
  const redis = connectRedis(urls, { commandTimeoutMs: 5_000 })
  t.after(() => redis.disconnect())
  await new Promise((resolve) => redis.once('ready', resolve))
  const store = redisLimitStore(redis)
  for (let show = 1; show <= 30; show++) {
    const ann = person(`c${show}`, `2001:db8:0:${show}::/64`)
    assert.equal((await store.take(`customer c${show}`, 5)).left, 4)
    await store.held(show, ann, ['F5'], 1_000)
    await store.letGo(show, ann, ['F5'])
    assert.equal((await store.cooling(show, ann, null)).size, 0)
  }
})
