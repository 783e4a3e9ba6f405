// alone
// W1: a hundred thousand visitors in front of one show, of whom every third is silently gone: never more inside than allowed, in the order of the draw and
// then of coming, and everybody who stays is admitted. In memory on a clock that the test moves; in Redis, on its own clock, with fewer of them in CI.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { startRedis } from '#test/support/redis.ts'
import type { CrowdPlan, Witnessed } from './crowd.ts'
import type { CrowdJob } from './crowd-thread.ts'

const LONG = process.env.HOLDFAST_TEST_LONG === '1'
const seed = process.env.HOLDFAST_TEST_SEED ?? randomBytes(32).toString('hex')

test(`in memory: 100,000 visitors (seed ${seed})`, async (t) => {
  const plan: CrowdPlan = {
    ...{ visitors: 100_000, early: 60_000, comeMs: 60_000, beatMs: 10_000, stayMs: [5_000, 15_000], silentShare: 0.3 },
    ...{ stepMs: 1_000, seed },
  }
  await judge(t, { url: null, activeMax: 6_000, goneMs: 30_000, plan })
})

test(`in Redis: ${LONG ? '100,000' : '12,000'} visitors (seed ${seed})`, async (t) => {
  const { url } = await startRedis(t)
  const size = LONG
    ? { visitors: 100_000, early: 60_000, comeMs: 20_000, beatMs: 10_000 }
    : { visitors: 12_000, early: 7_000, comeMs: 4_000, beatMs: 2_000 }
  const plan: CrowdPlan = { ...size, stayMs: [200, 1_500], silentShare: 0.3, stepMs: 200, seed }
  await judge(t, { url, activeMax: LONG ? 10_000 : 3_000, goneMs: LONG ? 30_000 : 20_000, plan })
})

async function judge(t: TestContext, job: CrowdJob): Promise<void> {
  const { activeMax, plan } = job
  const { visitors, early } = plan
  // In a thread of its own: in the test's, every one of a million promises is watched by the test runner.
  const worker = new Worker(new URL('./crowd-thread.ts', import.meta.url), { workerData: job })
  const [seen] = (await once(worker, 'message')) as [Witnessed]
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
