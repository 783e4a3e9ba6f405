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
  const newCustomer = async () => String((await ask(running, 'POST', '/v1/sessions')).body.token)
  const hold = (token: string, wish: object) => ask(running, 'POST', `${show}/holds`, token, wish)
  const best = (quantity: number) => ({ bestAvailable: { quantity } })

  // Thirty at once, each on a connection of its own, so that every process is asked.
  const crowd = await newCustomer()
  const replies = await Promise.all(Array.from({ length: 30 }, () => hold(crowd, best(2))))
  const granted = replies.filter(({ status }) => status !== 429)
  assert.equal(granted.length, 5, JSON.stringify(replies.map(({ status }) => status)))
  for (const { status, body } of granted) assert.ok([200, 201, 409].includes(status), JSON.stringify(body))
  for (const { status, headers, body } of replies)
    if (status === 429) assert.deepEqual([body.code, headers['retry-after'] !== undefined], ['TOO_MANY_ATTEMPTS', true])
  const mine = (await ask(running, 'GET', `${show}/seats`, crowd)).body as { seats: { mine?: boolean }[] }
  assert.equal(mine.seats.filter(({ mine: own }) => own).length, 2)

  const ann = await newCustomer()
  assert.equal((await hold(ann, best(3))).body.code, 'CUSTOMER_SEAT_LIMIT')
  let wish: object = best(2)
  for (let n = 0; n < 3; n++) {
    const { status, headers, body } = await hold(ann, wish)
    assert.deepEqual([status, String(headers.ratelimit).split(';')[1]], [201, `r=${3 - n}`], JSON.stringify(body))
    assert.equal((await ask(running, 'DELETE', `/v1/holds/${body.holdId}`, ann)).status, 204)
    wish = { seats: body.seats }
  }
  assert.equal((await hold(ann, wish)).body.code, 'HOLD_CYCLING')
  assert.equal((await hold(ann, wish)).body.code, 'TOO_MANY_ATTEMPTS')

  // Without Redis each process decides alone: still a limit, and nobody notices anything else.
  await redis.kill()
  const late = await newCustomer()
  const alone = await Promise.all(Array.from({ length: 40 }, () => hold(late, best(1))))
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
