// alone: it measures time. The gate on a real Redis that is well, stopped, gone, full or talks nonsense: it says no only when somebody is there, and never makes a buyer wait.
import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMetrics } from '#core/metrics.ts'
import { connectRedis } from '#redis/connect-redis.ts'
import { nodeOf } from '#redis/node-of.ts'
import { startRedis, startRedisCluster, untilReady } from '#test/support/redis.ts'
import type { Claim, Gate } from './gate.ts'
import { createRedisGate } from './redis-gate.ts'

const TTL_MS = 15_000
// What the product promises of a Redis that does not answer, and what is left once it is known.
const WITHIN_MS = 200
const KNOWN_MS = 50
const TICK_MS = 5

function gateOn(urls: string[], t: TestContext, ttlMs = TTL_MS) {
  const redis = connectRedis(urls)
  t.after(() => redis.disconnect())
  const metrics = createMetrics()
  const gate = createRedisGate(redis, { ttlMs, metrics })
  const answers = async () => {
    const { values } = await metrics.gateAnswers.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }
  return { redis, gate, answers }
}

/** The answer and how long it took, less what a busy machine did to a plain timer meanwhile. */
async function timed(gate: Gate, inventoryId: number, seats: string[], who: string): Promise<[string, number]> {
  const beganMs = performance.now()
  let [tickMs, lateMs] = [beganMs, 0]
  const ruler = setInterval(() => {
    const nowMs = performance.now()
    lateMs += Math.max(0, nowMs - tickMs - 2 * TICK_MS)
    tickMs = nowMs
  }, TICK_MS)
  const { outcome } = await gate.claim(inventoryId, seats, who)
  clearInterval(ruler)
  return [outcome, performance.now() - beganMs - lateMs]
}

async function untilClaimed(gate: Gate, inventoryId: number, who: string): Promise<void> {
  for (let left = 100; left > 0; left--) {
    if ((await gate.claim(inventoryId, ['Z1'], who)).outcome === 'CLAIMED') return
    await sleep(50)
  }
  assert.fail('the gate did not find Redis again')
}

test('others are told which seats somebody is after; the customer’s own retry, second tab and swap pass', async (t) => {
  const { url } = await startRedis(t)
  const [here, there] = [gateOn([url], t), gateOn([url], t)]
  for (const { redis } of [here, there]) await untilReady(redis)
  assert.deepEqual(await here.gate.claim(1, ['F5', 'F6'], 'ann'), { outcome: 'CLAIMED' })
  assert.deepEqual(await there.gate.claim(1, ['F6', 'F7'], 'ben'), { outcome: 'TAKEN', seats: ['F6'] })
  assert.deepEqual(await there.gate.claim(1, ['F5', 'F6'], 'ann'), { outcome: 'CLAIMED' })
  assert.deepEqual(await there.gate.claim(1, ['F6', 'F7'], 'ann'), { outcome: 'CLAIMED' })
  assert.deepEqual(await here.gate.claim(2, ['F5'], 'ben'), { outcome: 'CLAIMED' })
  await there.gate.free(1, ['F5', 'F6', 'F7'], 'ben')
  assert.deepEqual(await there.gate.claim(1, ['F5'], 'ben'), { outcome: 'TAKEN', seats: ['F5'] })
  await there.gate.free(1, ['F5', 'F6', 'F7'], 'ann')
  assert.deepEqual(await here.gate.claim(1, ['F5', 'F6', 'F7'], 'ben'), { outcome: 'CLAIMED' })
  assert.deepEqual(await there.answers(), { claimed: 2, taken: 2 })
  assert.deepEqual(await here.gate.claim(1, [], 'ann'), { outcome: 'OPEN' })
  const keys = await here.redis.keys('*')
  assert.ok(keys.every((key) => /^hf:\{[12]\}:F\d$/.test(key)))
  assert.doesNotMatch(JSON.stringify(await here.redis.mget(keys)), /ann|ben/)
})

test('a claim ends by itself', async (t) => {
  const { redis, gate } = gateOn([(await startRedis(t)).url], t, 200)
  await untilReady(redis)
  await gate.claim(1, ['F5'], 'ann')
  assert.equal((await gate.claim(1, ['F5'], 'ben')).outcome, 'TAKEN')
  await sleep(250)
  assert.equal((await gate.claim(1, ['F5'], 'ben')).outcome, 'CLAIMED')
})

test('a stopped Redis opens the gate within 200 ms, and after some failures at once; a claim that comes too late is taken back', async (t) => {
  const server = await startRedis(t)
  const { redis, gate, answers } = gateOn([server.url], t)
  await untilReady(redis)
  await gate.claim(1, ['F5'], 'ann')
  server.hang()
  for (let failure = 1; failure <= 3; failure++) {
    const [outcome, tookMs] = await timed(gate, 1, ['F6'], 'ann')
    assert.equal(outcome, 'OPEN')
    assert.ok(tookMs < WITHIN_MS, `claim ${failure} took ${tookMs} ms`)
  }
  assert.equal(gate.standsOpen(), true)
  for (let buyer = 0; buyer < 50; buyer++) {
    const [outcome, tookMs] = await timed(gate, 1, ['F6'], `buyer ${buyer}`)
    assert.equal(outcome, 'OPEN')
    assert.ok(tookMs < KNOWN_MS, `buyer ${buyer} waited ${tookMs} ms`)
    await sleep(40)
  }
  assert.deepEqual(await answers(), { claimed: 1, failed: 3, skipped: 50 })
  server.goOn()
  await untilClaimed(gate, 1, 'cat')
  assert.equal(gate.standsOpen(), false)
  assert.deepEqual(await gate.claim(1, ['F6'], 'ben'), { outcome: 'CLAIMED' }, 'nobody is after F6 any more')
  assert.deepEqual(await gate.claim(1, ['F5'], 'ben'), { outcome: 'TAKEN', seats: ['F5'] })
})

test('a Redis that is gone opens the gate at once, and is found again when it is back, empty', async (t) => {
  const server = await startRedis(t)
  const { redis, gate } = gateOn([server.url], t)
  await untilReady(redis)
  await gate.claim(1, ['F5'], 'ann')
  await server.kill()
  for (let buyer = 0; buyer < 10; buyer++) {
    const [outcome, tookMs] = await timed(gate, 1, ['F5'], `buyer ${buyer}`)
    assert.equal(outcome, 'OPEN')
    assert.ok(tookMs < WITHIN_MS, `buyer ${buyer} waited ${tookMs} ms`)
  }
  await gate.free(1, ['F5'], 'ann')
  await server.start()
  await untilClaimed(gate, 1, 'cat')
  assert.equal((await gate.claim(1, ['F5'], 'ben')).outcome, 'CLAIMED')
})

test('nonsense is no answer: the gate opens', async (t) => {
  const lies = [
    '+OK',
    ':1',
    '$-1',
    '*-1',
    '*1\r\n:9',
    '*1\r\n:0',
    '*1\r\n$2\r\nF5',
    '-ERR unknown command',
    '-READONLY',
    '-OOM',
  ]
  for (const lie of lies) {
    const { gate, redis } = gateOn([await startLiar(t, lie)], t)
    await new Promise((resolve) => redis.once('ready', resolve))
    const claim: Claim = await gate.claim(1, ['F5'], 'ann')
    assert.deepEqual(claim, { outcome: 'OPEN' }, lie)
    await gate.free(1, ['F5'], 'ann')
  }
})

test('a full Redis opens the gate, and closes it again when it has room', async (t) => {
  const server = await startRedis(t, ['--maxmemory-policy', 'noeviction'])
  const { redis, gate } = gateOn([server.url], t)
  await untilReady(redis)
  await redis.config('SET', 'maxmemory', '1')
  for (let buyer = 0; buyer < 5; buyer++)
    assert.deepEqual(await gate.claim(1, ['F5'], `buyer ${buyer}`), { outcome: 'OPEN' })
  await redis.config('SET', 'maxmemory', '0')
  await untilClaimed(gate, 1, 'cat')
})

for (const fault of ['kill', 'hang'] as const)
  test(`of a cluster one node fails (${fault}): its shows find the gate open, the others as before`, async (t) => {
    const { urls, nodes } = await startRedisCluster(t)
    const { redis, gate } = gateOn(urls, t)
    await untilReady(redis)
    const broken = nodes[1]
    const onBroken = (show: number) => nodeOf(redis, String(show)) === `127.0.0.1:${broken?.port}`
    const shows = Array.from({ length: 60 }, (_, n) => n + 1)
    const [theirs, others] = [shows.filter(onBroken), shows.filter((show) => !onBroken(show))]
    assert.ok(theirs.length > 5 && others.length > 5)
    await broken?.[fault]()
    for (const [at, show] of theirs.entries()) {
      const [outcome, tookMs] = await timed(gate, show, ['F5'], 'ann')
      assert.equal(outcome, 'OPEN')
      assert.ok(tookMs < (at < 3 ? WITHIN_MS : KNOWN_MS), `show ${show} waited ${tookMs} ms`)
    }
    for (const show of others) assert.equal((await gate.claim(show, ['F5'], 'ann')).outcome, 'CLAIMED', `show ${show}`)
    for (const show of others) assert.equal((await gate.claim(show, ['F5'], 'ben')).outcome, 'TAKEN', `show ${show}`)
    broken?.goOn()
  })

/** Speaks the protocol, and says this to every script. */
async function startLiar(t: TestContext, lie: string): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => {
      // One reply a command: each begins with the number of its words.
      for (const command of data.toString().split(/(?=\*\d+\r\n\$\d+\r\n[A-Za-z])/))
        socket.write(`${/\$\d+\r\neval/i.test(command) ? lie : '+OK'}\r\n`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return `redis://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}
