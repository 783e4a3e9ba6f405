// `holdfast start` as an operator meets it: it comes up from nothing, comes back after a kill with all its data, and refuses in one sentence.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedPostgres } from '#database/embedded.ts'
import {
  assertRefused,
  dataFolder,
  emptyFolder,
  freePort,
  holdfast,
  ROOT,
  STOP_PATIENCE_MS,
  stop,
} from './run-holdfast.ts'

test('from nothing: ready, usable, stopped by one signal; the second start has the same data', async (t) => {
  const dir = emptyFolder(t)
  const first = await holdfast(t, { HOLDFAST_DATA: dir, DEMO_DATA: 'on' })
  assert.equal((await fetch(`${first.url}/readyz`)).status, 200)
  const shown = await readShowtimes(first.url)
  assert.ok(shown.length > 0, 'no demo showtimes')
  assert.equal(await stop(first, 'SIGTERM'), 0)

  const second = await holdfast(t, { HOLDFAST_DATA: dir, DEMO_DATA: 'on' })
  assert.deepEqual(await readShowtimes(second.url), shown)
  assert.equal(await stop(second, 'SIGINT'), 0)
})

test('killed outright, it starts again at once', async (t) => {
  const dir = await dataFolder(t)
  const first = await holdfast(t, { HOLDFAST_DATA: dir })
  first.child.kill('SIGKILL')
  const second = await holdfast(t, { HOLDFAST_DATA: dir })
  assert.equal((await fetch(`${second.url}/readyz`)).status, 200)
  assert.equal(await stop(second, 'SIGTERM'), 0)
})

test('the same signal twice at once, as npm forwards it, is still a clean stop', async (t) => {
  const running = await holdfast(t, { HOLDFAST_DATA: await dataFolder(t) })
  running.child.kill('SIGINT')
  assert.equal(await stop(running, 'SIGINT'), 0)
})

test('the launcher killed outright takes the server with it: the port is free again', async (t) => {
  const running = await holdfast(t, { HOLDFAST_DATA: await dataFolder(t) }, [join(ROOT, 'tools/run.mjs'), 'src/cli.ts'])
  running.child.kill('SIGKILL')
  for (const deadlineMs = performance.now() + STOP_PATIENCE_MS; ; await sleep(100)) {
    if (
      await fetch(`${running.url}/livez`).then(
        () => false,
        () => true,
      )
    )
      return
    assert.ok(performance.now() < deadlineMs, 'the server still answers')
  }
})

test('a database of one’s own by DATABASE_URL', async (t) => {
  const dir = await dataFolder(t)
  const port = await freePort()
  const settings = { listen_addresses: '127.0.0.1', port: String(port), fsync: 'off' }
  const server = await startEmbeddedPostgres({ dir, log: () => {}, settings })
  t.after(() => server.stop())
  const running = await holdfast(t, { DATABASE_URL: `postgres://holdfast@127.0.0.1:${port}/holdfast` })
  assert.equal((await fetch(`${running.url}/readyz`)).status, 200)
  assert.equal(await stop(running, 'SIGTERM'), 0)
})

test('a port in use is refused in one sentence, and nothing stays behind', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const port = (taken.address() as { port: number }).port
  const dir = await dataFolder(t)
  await assertRefused({ HOLDFAST_DATA: dir, PORT: String(port) }, new RegExp(`\\b${port}\\b.*in use`))
  assert.equal(await stop(await holdfast(t, { HOLDFAST_DATA: dir }), 'SIGTERM'), 0)
})

test('a database that is away is refused in one sentence', async () => {
  const port = await freePort()
  await assertRefused({ DATABASE_URL: `postgres://holdfast:secret@127.0.0.1:${port}/holdfast` }, new RegExp(`${port}`))
})

test('a damaged data folder is refused in one sentence', async (t) => {
  const dir = await dataFolder(t)
  rmSync(join(dir, 'postgres/data/PG_VERSION'))
  await assertRefused({ HOLDFAST_DATA: dir }, /is damaged: PG_VERSION is missing/)
})

test('a data folder of another PostgreSQL version is refused in one sentence', async (t) => {
  const dir = await dataFolder(t)
  writeFileSync(join(dir, 'postgres/data/PG_VERSION'), '9')
  await assertRefused({ HOLDFAST_DATA: dir }, /was made by PostgreSQL 9/)
})

test('a value that is not allowed is refused in one sentence', async () => {
  await assertRefused(
    { PORT: 'three thousand' },
    /PORT is "three thousand", but must be a whole number from 0 to 65535\./,
  )
})

async function readShowtimes(url: string): Promise<unknown[]> {
  const reply = await fetch(`${url}/v1/showtimes`)
  const { items } = (await reply.json()) as { items?: { id: string }[] }
  return items?.map(({ id }) => id) ?? []
}
