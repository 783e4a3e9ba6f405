// PROCESSES=2 as an operator meets it: one port, one set of numbers, a process that dies is replaced, and no process outlives the one above.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf } from './children.ts'
import { assertRefused, dataFolder, freePort, holdfast, type Running, stop } from './run-holdfast.ts'

const TWO = { PROCESSES: '2', LOG_LEVEL: 'info' }
const PATIENCE_MS = 20_000

test('two processes sell one house: each answers, each seat once, and their numbers are summed', async (t) => {
  const running = await twoProcesses(t, { DEMO_DATA: 'on', HOLD_ATTEMPTS_PER_MINUTE: '0' })
  const { items } = (await get(running, '/v1/showtimes?limit=1')) as { items: { id: string }[] }
  const show = items[0]?.id
  const buyers = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const session = await post(running, '/v1/sessions', {})
      return String(session.body.token)
    }),
  )
  const holds = await Promise.all(
    buyers.map((token) => post(running, `/v1/showtimes/${show}/holds`, { bestAvailable: { quantity: 2 } }, token)),
  )
  const seats = holds.flatMap(({ body }) => (body.seats as string[] | undefined) ?? [])
  assert.equal(new Set(seats).size, seats.length)
  assert.ok(seats.length >= 16, `${seats.length} seats were held: ${JSON.stringify(holds.map(({ status }) => status))}`)

  const numbers = await (await fetch(`${running.url}/metrics`)).text()
  const sessions =
    /holdfast_http_request_duration_seconds_count\{method="POST",route="\/v1\/sessions",status="201"\} (\d+)/
  assert.equal(Number(sessions.exec(numbers)?.[1]), 16)
  assert.match(numbers, /holdfast_worker_run_duration_seconds_count\{worker="sweep"\} [1-9]/)
  assert.equal(childrenOf(running.child).length, 2)
  assert.equal(await stop(running, 'SIGTERM'), 0)
})

test('a process that is killed is replaced while the other one answers', async (t) => {
  const running = await twoProcesses(t)
  const [first = 0] = childrenOf(running.child)
  process.kill(first, 'SIGKILL')
  await until(async () => !childrenOf(running.child).includes(first))
  // Connections dealt out to the dead one are cut; the next ones are not.
  await until(async () => (await fetch(`${running.url}/readyz`)).status === 200)
  await until(async () => childrenOf(running.child).length === 2)
  assert.match(running.output(), /a process ended and is replaced/)
  assert.equal(await stop(running, 'SIGTERM'), 0)
})

test('the one above killed outright takes the others with it; the next start is as usual', async (t) => {
  const dir = await dataFolder(t)
  const port = String(await freePort())
  const running = await holdfast(t, { ...TWO, HOLDFAST_DATA: dir, PORT: port })
  const children = childrenOf(running.child)
  running.child.kill('SIGKILL')
  await until(async () => children.every((pid) => !isAlive(pid)))
  const second = await holdfast(t, { ...TWO, HOLDFAST_DATA: dir, PORT: port })
  assert.equal((await fetch(`${second.url}/readyz`)).status, 200)
  assert.equal(await stop(second, 'SIGINT'), 0)
})

test('a port in use is refused in one sentence also by several processes', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const { port } = taken.address() as { port: number }
  await assertRefused({ ...TWO, HOLDFAST_DATA: await dataFolder(t), PORT: String(port) }, /in use/)
})

async function twoProcesses(t: TestContext, env: Record<string, string> = {}): Promise<Running> {
  return holdfast(t, { ...TWO, HOLDFAST_DATA: await dataFolder(t), ...env })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadlineMs = performance.now() + PATIENCE_MS; !(await holds().catch(() => false)); await sleep(50))
    assert.ok(performance.now() < deadlineMs, 'it did not come about in time')
}

async function get({ url }: Running, path: string): Promise<unknown> {
  return (await fetch(url + path)).json()
}

/** On a connection of its own, so that the requests are dealt out. */
function post(
  { url }: Running,
  path: string,
  body: object,
  token?: string,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = {
    'content-type': 'application/json',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  }
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method: 'POST', headers, agent: new Agent() }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }))
    })
    sent.on('error', reject).end(JSON.stringify(body))
  })
}
