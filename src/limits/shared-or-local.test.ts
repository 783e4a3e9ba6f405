// A real Redis that hangs, dies and comes back under the limits: nobody waits for it twice, nobody gets a fresh minute, and what it decides it decides for all.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis } from '#redis/connect-redis.ts'
import { startRedis, type TestRedis } from '#test/support/redis.ts'
import type { LimitStore } from './limit-store.ts'
import { memoryLimitStore } from './memory-limit-store.ts'
import { redisLimitStore } from './redis-limit-store.ts'
import { sharedOrLocal } from './shared-or-local.ts'

type Process = { store: LimitStore; alone: () => number }

/** `clockMs`: how far this process' own clock is off. */
async function startProcess(t: TestContext, server: TestRedis, clockMs = 0): Promise<Process> {
  const redis = connectRedis([server.url])
  t.after(() => redis.disconnect())
  await new Promise((resolve) => redis.once('ready', resolve))
  let alone = 0
  const local = memoryLimitStore(() => Math.floor(performance.now()) + clockMs)
  const store = sharedOrLocal({ redis, local, shared: redisLimitStore(redis) }, () => {
    alone += 1
  })
  return { store, alone: () => alone }
}

async function timed<T>(work: () => T | Promise<T>): Promise<{ ms: number; answer: T }> {
  const beganMs = performance.now()
  const answer = await work()
  return { ms: performance.now() - beganMs, answer }
}

async function untilShared(one: Process): Promise<void> {
  for (let left = 100; ; left--) {
    const before = one.alone()
    await one.store.take('probe', 1_000_000)
    if (one.alone() === before) return
    assert.ok(left > 0, 'Redis was not asked again')
    await sleep(100)
  }
}

test('three processes whose clocks are ten minutes apart share one budget: of 60 attempts at once exactly 5', async (t) => {
  const server = await startRedis(t)
  const processes = await Promise.all([0, 600_000, -600_000].map((offMs) => startProcess(t, server, offMs)))
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => processes[n % 3]?.store.take(`customer ${round}`, 5)),
    )
    assert.equal(answers.filter((taken) => taken?.waitMs === 0).length, 5, `round ${round}`)
    for (const taken of answers) assert.ok(taken && taken.waitMs <= 60_000)
  }
  assert.deepEqual(
    processes.map(({ alone }) => alone()),
    [0, 0, 0],
  )
  // The control: processes that share nothing allow as much each.
  const apart = [0, 600_000, -600_000].map((offMs) => memoryLimitStore(() => Math.floor(performance.now()) + offMs))
  const allowed = Array.from({ length: 60 }, (_, n) => apart[n % 3]?.take('ann', 5)).filter(
    (taken) => taken?.waitMs === 0,
  )
  assert.equal(allowed.length, 15)
})

test('a hung Redis costs one request its time limit and the next ones nothing; the minute goes on; Redis decides again when it answers', async (t) => {
  const server = await startRedis(t)
  const one = await startProcess(t, server)
  for (let n = 0; n < 3; n++) assert.equal((await one.store.take('ann', 5)).waitMs, 0)
  server.hang()
  const first = await timed(() => one.store.take('ann', 5))
  assert.ok(first.ms > 100 && first.ms < 500, `the first waited ${first.ms} ms`)
  assert.deepEqual([first.answer.waitMs, first.answer.left], [0, 1])
  // Longer than the pause, so that pings go out behind these requests' backs.
  for (const endMs = performance.now() + 1_500; performance.now() < endMs; await sleep(20)) {
    const next = await timed(() => one.store.take('somebody', 1_000))
    assert.ok(next.ms < 50, `a later one waited ${next.ms} ms`)
  }
  assert.equal((await one.store.take('ann', 5)).waitMs, 0)
  assert.ok((await one.store.take('ann', 5)).waitMs > 0, 'a fresh minute was handed out')
  assert.ok(one.alone() > 3)
  server.goOn()
  await untilShared(one)
})

test('a Redis that is gone costs nothing, and one that returned empty is asked again', async (t) => {
  const server = await startRedis(t)
  const one = await startProcess(t, server)
  await one.store.take('ann', 5)
  await server.kill()
  await sleep(50)
  const gone = await timed(() => one.store.take('ann', 5))
  assert.ok(gone.ms < 150, `took ${gone.ms} ms`)
  assert.equal(gone.answer.left, 3)
  await one.store.held(1, { customerId: 'ann', network: null }, ['F5'], 1_000)
  assert.equal((await one.store.cooling(1, { customerId: 'ann', network: null }, null)).size, 0)
  await server.start()
  await untilShared(one)
})
