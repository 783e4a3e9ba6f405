// alone: X8, whatever Redis does while a crowd wants the same twelve seats through two processes: no seat has two owners, no refusal stands without a
// cause, nobody is refused their own seats, nothing is left behind, and a stopped Redis costs next to nothing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runAudit } from '#admin/run-audit.ts'
import { placeHold } from '#holds/place-hold.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { connectRedis, type Redis } from '#redis/connect-redis.ts'
import { nodeOf } from '#redis/node-of.ts'
import { chance, printedSeed } from '#test/races/processes.ts'
import { freshDatabase } from '#test/support/database.ts'
import { startRedis, startRedisCluster, type TestRedis, untilReady } from '#test/support/redis.ts'
import { type Book, judge, p99, startCrowd, type Told } from './crowd.ts'
import { openDoors } from './doors.ts'

const long = Boolean(process.env.HOLDFAST_TEST_LONG)
const TIMES = long ? 20 : 1
// Short, so that what outlives it is seen while the crowd is still there.
const CLAIM_TTL_MS = 1_500
const BEFORE_MS = 700
const FAULT_MS = 2_500
// On a slow machine a fault goes on until so many have asked meanwhile.
const ASKED_MIN = 100
const PATIENCE_MS = 30_000
const SEATS = Array.from({ length: 12 }, (_, n) => `F${n + 1}`)
const seed = printedSeed()

type Scene = { nodes: TestRedis[]; redis: Redis; inventoryId: number; book: Book; below: (limit: number) => number }
type Fault = (scene: Scene) => Promise<void>

/** The crowd, the fault in its midst, and everything that may not be afterwards. Answers what the gate said, summed over both doors. */
async function survive(t: TestContext, nodes: TestRedis[], fault: Fault): Promise<Record<string, number>> {
  const db = await freshDatabase(t)
  const urls = nodes.map(({ url }) => url)
  const doors = await openDoors(t, db, { urls, ttlMs: CLAIM_TTL_MS })
  const redis = connectRedis(urls)
  t.after(() => redis.disconnect())
  await untilReady(redis)
  const inventoryId = await postgresStore(db.sql).open({ seats: SEATS })
  const crowd = startCrowd(doors, { inventoryId, seats: SEATS, seed, clients: 8 })
  await sleep(BEFORE_MS)
  for (let time = 0; time < TIMES; time++)
    await fault({ nodes, redis, inventoryId, book: crowd.book, below: chance(seed + 1 + time) })
  const book = await crowd.stop()
  assert.deepEqual(judge(book, CLAIM_TTL_MS), [])
  assert.deepEqual((await runAudit(db.sql)).findings, [])

  // Once a claim's time is over, every seat is there for the next buyer, whatever was left in Redis.
  await sleep(CLAIM_TTL_MS)
  const [door] = doors
  assert.ok(door)
  const quote = { currency: 'EUR', totalMinor: 100, lines: [] }
  for (const seat of SEATS)
    await placeHold(door, { inventoryId, customerId: randomUUID(), seats: [seat], quote, unitsMax: null })
  const counted = (by: Told['by']) => book.told.filter((told) => told.by === by).length
  t.diagnostic(
    `${book.told.length} asked: ${counted('HELD')} held, ${counted('REPEATED')} again, refused by gate ${counted('GATE')}, by database ${counted('DATABASE')}`,
  )
  assert.ok(counted('HELD') > 10 && counted('GATE') > 0, 'the crowd was too tame to prove anything')
  const answers: Record<string, number> = {}
  for (const one of doors)
    for (const [outcome, value] of Object.entries(await one.gateAnswers()))
      answers[outcome] = (answers[outcome] ?? 0) + value
  return answers
}

/** The same fault again and again, while the crowd asks on. */
async function again({ book }: Scene, everyMs: number, act: () => Promise<unknown>): Promise<void> {
  const [beganMs, asked] = [performance.now(), book.told.length]
  const lastedMs = () => performance.now() - beganMs
  while (lastedMs() < FAULT_MS || (book.told.length < asked + ASKED_MIN && lastedMs() < PATIENCE_MS)) {
    await act()
    await sleep(everyMs)
  }
}

const keyOf = ({ inventoryId, below }: Scene) => {
  const seat = SEATS[below(SEATS.length)] as string
  return { seat, key: `hf:{${inventoryId}}:${seat}` }
}

test('emptied again and again', async (t) => {
  await survive(t, [await startRedis(t)], (scene) => again(scene, 60, () => scene.redis.flushall()))
})

test('killed and started again, empty', async (t) => {
  await survive(t, [await startRedis(t)], async ({ nodes: [server] }) => {
    await server?.kill()
    await sleep(1_000)
    await server?.start()
    await sleep(1_500)
  })
})

test('keys planted for free seats: of other types, without an end, with an end too far off, and such as look like ours', async (t) => {
  await survive(t, [await startRedis(t)], (scene) =>
    again(scene, 25, async () => {
      const { redis, below, book } = scene
      const { seat, key } = keyOf(scene)
      const kind = below(5)
      const beganMs = performance.now()
      if (kind === 0) await redis.pipeline().del(key).rpush(key, 'x').exec()
      if (kind === 1) await redis.pipeline().del(key).hset(key, 'x', '1').exec()
      if (kind === 2) await redis.set(key, 'somebody')
      if (kind === 3) await redis.set(key, 'somebody', 'PX', 3_600_000)
      if (kind !== 4) return
      await redis.set(key, 'somebody', 'PX', CLAIM_TTL_MS)
      book.planted.push({ seat, fromMs: beganMs, untilMs: performance.now() + CLAIM_TTL_MS })
    }),
  )
})

test('keys of held seats taken away', async (t) => {
  await survive(t, [await startRedis(t)], (scene) => again(scene, 4, () => scene.redis.del(keyOf(scene).key)))
})

test('scripts forgotten again and again', async (t) => {
  await survive(t, [await startRedis(t)], (scene) => again(scene, 10, () => scene.redis.script('FLUSH')))
})

test('memory full, first refusing what is new and then throwing out what there is', async (t) => {
  const answers = await survive(t, [await startRedis(t)], async ({ redis }) => {
    await redis.config('SET', 'maxmemory-policy', 'noeviction')
    await redis.config('SET', 'maxmemory', '1')
    await sleep(1_000)
    await redis.config('SET', 'maxmemory-policy', 'allkeys-random')
    await sleep(1_000)
    await redis.config('SET', 'maxmemory', '0')
    await sleep(1_500)
  })
  assert.ok((answers.failed ?? 0) > 0)
})

test('of a cluster the node of this show killed', async (t) => {
  const { nodes } = await startRedisCluster(t)
  const answers = await survive(t, nodes, async (scene) => {
    const address = nodeOf(scene.redis, String(scene.inventoryId))
    await nodes.find(({ port }) => address.endsWith(`:${port}`))?.kill()
    await again(scene, 50, async () => {})
  })
  assert.ok((answers.skipped ?? 0) > 0)
})

test('stopped: a hold takes at most 200 ms longer for the first buyers, at most 50 ms for everybody after them', async (t) => {
  const stallMs = long ? 10_000 : 4_000
  const settleMs = 1_000
  let stalledMs = 0
  let told: Told[] = []
  const answers = await survive(t, [await startRedis(t)], async ({ nodes: [server], book }) => {
    told = book.told
    await sleep(2_000)
    stalledMs = performance.now()
    server?.hang()
    await sleep(stallMs)
    server?.goOn()
    await sleep(2_000)
  })
  const between = (fromMs: number, untilMs: number) =>
    told.filter(({ beganMs }) => beganMs >= fromMs && beganMs < untilMs)
  const [usual, first, after] = [
    between(0, stalledMs - 500),
    between(stalledMs - 20, stalledMs + settleMs),
    between(stalledMs + settleMs, stalledMs + stallMs),
  ]
  const p99s = [usual, first, after].map((some) =>
    p99(some.map(({ endedMs, beganMs }) => endedMs - beganMs)).toFixed(1),
  )
  t.diagnostic(`p99 of a hold: ${p99s[0]} ms usually, ${p99s[1]} at first, ${p99s[2]} then`)
  const [gateUsual, gateFirst, gateAfter] = [usual, first, after].map((some) => p99(some.map(({ gateMs }) => gateMs)))
  t.diagnostic(`of it at the gate: ${gateUsual?.toFixed(1)}, ${gateFirst?.toFixed(1)}, ${gateAfter?.toFixed(1)} ms`)
  // What the gate adds, so that it is not the database's bad moments that are measured.
  assert.ok(gateFirst !== undefined && gateFirst <= (gateUsual ?? 0) + 200, `${gateFirst} ms at first`)
  assert.ok(gateAfter !== undefined && gateAfter <= (gateUsual ?? 0) + 50, `${gateAfter} ms once it was known`)
  assert.ok((answers.skipped ?? 0) > 10)
})
