// Three processes on one Redis admit at once, and the limit holds at every moment; with a move that looks first and admits then the same watch sees it broken.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Redis } from 'ioredis'
import { startRedis } from '#test/support/redis.ts'
import { openRedisStore, openRoomOf } from './two-stores.ts'

const CHILD = new URL('./one-of-three.ts', import.meta.url).pathname

test('three processes on one Redis: never more than 20 inside, however often one looks', async (t) => {
  const { insideMax, samples } = await watch(t as TestContext, [])
  assert.ok(samples > 200, `${samples} samples`)
  assert.equal(insideMax, 20)
})

test('the control: three processes that look first and admit then let in more than 20', async (t) => {
  const { insideMax } = await watch(t as TestContext, ['naive'])
  assert.ok(insideMax > 20, `${insideMax}`)
})

async function watch(t: TestContext, extra: string[]): Promise<{ insideMax: number; samples: number }> {
  const { url } = await startRedis(t)
  const store = await openRedisStore(t, [url], { goneMs: 60_000, admissionTtlMs: 900_000 })
  await store.begin(openRoomOf({ activeMax: 20 }))
  const eye = new Redis(url)
  const children = ['a', 'b', 'c'].map((name) =>
    spawn(process.execPath, [CHILD, url, name, ...extra], { stdio: ['ignore', 'ignore', 'inherit'] }),
  )
  let running = children.length
  const ends = children.map((child) => once(child, 'exit').finally(() => running--))
  let insideMax = 0
  let samples = 0
  while (running > 0) {
    insideMax = Math.max(insideMax, await eye.zcard('{42}:wait:1:active'))
    samples += 1
  }
  eye.disconnect()
  for (const [code] of await Promise.all(ends)) assert.equal(code, 0)
  return { insideMax, samples }
}
