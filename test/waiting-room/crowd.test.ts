// alone
// W1: a hundred thousand visitors in front of one show, of whom every third is silently gone: never more inside than allowed, in the order of the draw and
// then of coming, and everybody who stays is admitted. In memory on a clock that the test moves; in Redis, on its own clock, with fewer of them in CI.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { startRedis } from '#test/support/redis.ts'
import { memoryStore } from '#waiting-room/memory-store.ts'
import { type CrowdPlan, playCrowd, type Witnessed } from './crowd.ts'
import { openRedisStore, openRoomOf } from './two-stores.ts'

const LONG = process.env.HOLDFAST_TEST_LONG === '1'
const seed = process.env.HOLDFAST_TEST_SEED ?? randomBytes(32).toString('hex')

test(`in memory: 100,000 visitors, 3,000 inside at most (seed ${seed})`, async (t) => {
  let clockMs = 1_800_000_000_000
  const store = memoryStore({ goneMs: 30_000, admissionTtlMs: 900_000 }, () => clockMs)
  const heapBefore = usedHeap()
  const seen = await playCrowd(store, openRoomOf({ activeMax: 3_000 }), {
    ...{ visitors: 100_000, early: 60_000, comeMs: 120_000, beatMs: 10_000, stayMs: [5_000, 25_000], silentShare: 0.3 },
    ...{ stepMs: 500, random: seededBy(seed), seed },
    advance: (ms) => {
      clockMs += ms
    },
  })
  judge(t, seen, { activeMax: 3_000, visitors: 100_000, early: 60_000 })
  t.diagnostic(`heap grew by ${((usedHeap() - heapBefore) / 1e6).toFixed(0)} MB with everybody gone again`)
})

test(`in Redis: ${LONG ? '100,000' : '15,000'} visitors (seed ${seed})`, async (t) => {
  const server = await startRedis(t)
  const store = await openRedisStore(t, [server.url], { goneMs: LONG ? 30_000 : 6_000, admissionTtlMs: 900_000 })
  const size = LONG
    ? { visitors: 100_000, early: 60_000, comeMs: 20_000, beatMs: 10_000 }
    : { visitors: 15_000, early: 9_000, comeMs: 5_000, beatMs: 2_000 }
  const activeMax = LONG ? 10_000 : 3_000
  const plan: CrowdPlan = {
    ...size,
    ...{ stayMs: [200, 1_500], silentShare: 0.3, stepMs: 200, random: seededBy(seed), seed, advance: null },
  }
  judge(t, await playCrowd(store, openRoomOf({ activeMax }), plan), { activeMax, ...size })
})

function judge(
  t: TestContext,
  seen: Witnessed,
  { activeMax, visitors, early }: { activeMax: number; visitors: number; early: number },
): void {
  assert.ok(seen.insideMax <= activeMax, `${seen.insideMax} had a good pass at once`)
  assert.ok(seen.activeMax <= activeMax, `${seen.activeMax} were active at once`)
  assert.ok(seen.activeMax > activeMax * 0.9, `only ${seen.activeMax} at once: the limit was never met`)
  assert.deepEqual(seen.stranded, [], 'everybody who stayed was admitted')
  const { admissions } = seen
  assert.ok(admissions.length > visitors * 0.7 && admissions.length < visitors)

  const byTime = admissions.toSorted((a, b) => a.no - b.no || a.score - b.score)
  const outOfTurn = byTime.findIndex(({ score }, at) => score < (byTime[at - 1]?.score ?? Number.NEGATIVE_INFINITY))
  assert.equal(outOfTurn, -1, `${JSON.stringify(byTime[outOfTurn])} after ${JSON.stringify(byTime[outOfTurn - 1])}`)
  const drawn = byTime.filter(({ score }) => score < 0).length
  assert.ok(drawn > early * 0.6 && byTime.slice(0, drawn).every(({ score }) => score < 0), 'the early ones first')
  const calls = seen.callMs.toSorted((a, b) => a - b)
  t.diagnostic(
    `${admissions.length} admitted in ${(seen.lastedMs / 1000).toFixed(0)} s of the store's time, ${seen.samples} samples, at most ${seen.insideMax} inside; ` +
      `a call ${at(calls, 0.5)} ms in the median, ${at(calls, 0.99)} ms at p99; the slowest move ${seen.slowestMoveMs.toFixed(1)} ms`,
  )
}

function at(sorted: number[], share: number): string {
  return (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(3)
}

function usedHeap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

function seededBy(text: string): () => number {
  let state = Number.parseInt(text.slice(0, 8), 16)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
