// How workers are run: one at a time, woken early, backing off, stopped after the run under way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from './log.ts'
import { runWorkers } from './workers.ts'

const log = createLog('silent')
const HOUR_MS = 3_600_000

test('a run begins at once, the next a pause after it ended; never two at a time', async () => {
  let now = 0
  let most = 0
  let runs = 0
  const run = async () => {
    now += 1
    most = Math.max(most, now)
    runs += 1
    await sleep(10)
    now -= 1
    return 1
  }
  const workers = runWorkers([{ name: 'w', intervalMs: 5, run }], log)
  await sleep(120)
  workers.wake('w')
  await workers.stop()
  assert.ok(runs >= 3, `${runs} runs`)
  assert.equal(most, 1)
  const ended = runs
  await sleep(40)
  assert.equal(runs, ended)
})

test('a worker that is woken while it runs runs once more', async () => {
  let runs = 0
  let finish = () => {}
  const run = () =>
    new Promise<number>((resolve) => {
      runs += 1
      finish = () => resolve(0)
    })
  const workers = runWorkers([{ name: 'w', intervalMs: HOUR_MS, run }], log)
  await sleep(5)
  workers.wake('w')
  workers.wake('w')
  finish()
  await sleep(5)
  assert.equal(runs, 2)
  finish()
  await sleep(5)
  assert.equal(runs, 2)
  workers.wake('w')
  await sleep(5)
  assert.equal(runs, 3)
  finish()
  await workers.stop()
})

test('a failing worker tries again ever more rarely, and being woken does not defeat that', async () => {
  let runs = 0
  let failures = 0
  const run = async () => {
    runs += 1
    throw new Error('away')
  }
  const workers = runWorkers([{ name: 'w', intervalMs: 10, run }], log, { onFailure: () => failures++ })
  for (let time = 0; time < 30; time++) {
    workers.wake('w')
    await sleep(5)
  }
  await workers.stop()
  // 20, 40, 80 ms ... : four runs in 150 ms, not fifteen.
  assert.ok(runs >= 2 && runs <= 5, `${runs} runs`)
  assert.equal(failures, runs)
})

test('an interval of 0 switches a worker off; waking it or a stranger does nothing', async () => {
  let runs = 0
  const workers = runWorkers([{ name: 'off', intervalMs: 0, run: async () => ++runs }], log)
  workers.wake('off')
  workers.wake('nobody')
  await sleep(10)
  await workers.stop()
  assert.equal(runs, 0)
})
