// alone
// SB1 as an operator has it: three processes behind one port share their limits in Redis, also while Redis dies.
import assert from 'node:assert/strict'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { test } from 'node:test'
import { dataFolder, holdfast, type Running, stop } from '#test/start/run-holdfast.ts'
import { startRedis } from '#test/support/redis.ts'

type Reply = { status: number; headers: IncomingHttpHeaders; body: Record<string, unknown> }

const ENV = { PROCESSES: '3', DEMO_DATA: 'on', SEATS_PER_CUSTOMER_MAX: '2', HOLD_ATTEMPTS_PER_MINUTE: '5' }

test('over three processes a customer has five attempts, two seats and three changes of mind, not three times as many', async (t) => {
  const redis = await startRedis(t)
  const running = await holdfast(t, { ...ENV, REDIS_URL: redis.url, HOLDFAST_DATA: await dataFolder(t) })
  const { items } = (await ask(running, 'GET', '/v1/showtimes?limit=1')).body as { items: { id: string }[] }
  const show = `/v1/showtimes/${items[0]?.id}`
  const seatMap = (await ask(running, 'GET', `${show}/seats`)).body as { seats: { code: string; status: string }[] }
  const free = seatMap.seats.filter(({ status }) => status === 'AVAILABLE').map(({ code }) => code)
  const newCustomer = async () => String((await ask(running, 'POST', '/v1/sessions')).body.token)
  const hold = (token: string, seats: string[]) => ask(running, 'POST', `${show}/holds`, token, { seats })

  // Thirty at once, each on a connection of its own, so that every process is asked; each for other seats.
  const crowd = await newCustomer()
  const replies = await Promise.all(Array.from({ length: 30 }, (_, n) => hold(crowd, free.slice(2 * n, 2 * n + 2))))
  const granted = replies.filter(({ status }) => status !== 429)
  assert.equal(granted.length, 5, JSON.stringify(replies.map(({ status }) => status)))
  for (const { status, body } of granted) assert.ok([201, 409, 422].includes(status), JSON.stringify(body))
  for (const { status, headers, body } of replies)
    if (status === 429) assert.deepEqual([body.code, headers['retry-after'] !== undefined], ['TOO_MANY_ATTEMPTS', true])
  const mine = (await ask(running, 'GET', `${show}/seats`, crowd)).body as { seats: { mine?: boolean }[] }
  assert.equal(mine.seats.filter(({ mine: own }) => own).length, 2)

  const ann = await newCustomer()
  assert.equal((await hold(ann, free.slice(100, 103))).body.code, 'CUSTOMER_SEAT_LIMIT')
  for (let n = 0; n < 3; n++) {
    const placed = await hold(ann, free.slice(100, 102))
    assert.deepEqual([placed.status, placed.headers.ratelimit?.toString().split(';')[1]], [201, `r=${3 - n}`])
    assert.equal((await ask(running, 'DELETE', `/v1/holds/${placed.body.holdId}`, ann)).status, 204)
  }
  assert.equal((await hold(ann, free.slice(100, 102))).body.code, 'HOLD_CYCLING')
  assert.equal((await hold(ann, free.slice(100, 102))).body.code, 'TOO_MANY_ATTEMPTS')

  // Without Redis each process decides alone: still a limit, and nobody notices anything else.
  await redis.kill()
  const late = await newCustomer()
  const alone = await Promise.all(Array.from({ length: 40 }, (_, n) => hold(late, free.slice(110 + n, 111 + n))))
  const allowed = alone.filter(({ status }) => status !== 429).length
  assert.ok(allowed > 5 && allowed <= 15, `${allowed} of 40`)
  assert.equal(alone.filter(({ status }) => status >= 500).length, 0)
  assert.equal(await stop(running, 'SIGTERM'), 0)
})

/** On a connection of its own, so that requests are dealt out to all processes. */
function ask({ url }: Running, method: string, path: string, token?: string, body?: object): Promise<Reply> {
  const headers = {
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  }
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers, agent: new Agent() }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) }),
      )
    })
    sent.on('error', reject).end(body ? JSON.stringify(body) : undefined)
  })
}
