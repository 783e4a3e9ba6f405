// The crowd's connections: bounded, never throwing, timed from the wish on, and emptied at once when everybody is sent home.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { percentiles } from './latency.ts'
import { newTally } from './tally.ts'
import { monotonicMs, openWire } from './wire.ts'

const CONNECTIONS = 5
const ANSWER_MS = 40

async function wireTo(t: TestContext, listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const tally = newTally()
  const { port } = server.address() as AddressInfo
  const wire = openWire(`http://127.0.0.1:${port}/base/`, CONNECTIONS, () => tally, monotonicMs())
  t.after(() => {
    wire.close()
    server.closeAllConnections()
    server.close()
  })
  return { wire, tally }
}

test('no more requests at once than connections; who waits for one has that wait in their time', async (t) => {
  let [now, most] = [0, 0]
  const { wire, tally } = await wireTo(t, (_, response) => {
    most = Math.max(most, ++now)
    setTimeout(() => response.end('{}', () => now--), ANSWER_MS)
  })
  const replies = await Promise.all(Array.from({ length: 4 * CONNECTIONS }, () => wire.ask('map', '/x')))
  assert.ok(replies.every(({ status }) => status === 200))
  assert.equal(most, CONNECTIONS)
  const map = percentiles(tally.latency.get('map') ?? assert.fail('nothing was timed'))
  assert.equal(map.answers, 4 * CONNECTIONS)
  assert.ok(map.maxMs >= 4 * ANSWER_MS - 5, `the last one waited only ${map.maxMs} ms`)
})

test('a refusal is counted by its code, a page that is no JSON by its status, and the body and headers arrive', async (t) => {
  const seen: unknown[] = []
  const { wire, tally } = await wireTo(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    seen.push([request.method, request.url, request.headers['x-forwarded-for'], body])
    if (request.url?.endsWith('/problem'))
      response.writeHead(409).end('{"code":"SEATS_UNAVAILABLE","retryAfterSeconds":2}')
    else response.writeHead(502, { etag: '"7"' }).end('<h1>Bad gateway</h1>')
  })
  const refused = await wire.ask('hold', '/problem', {
    method: 'POST',
    body: { seats: ['A1'] },
    headers: { 'x-forwarded-for': '10.0.0.7' },
  })
  const broken = await wire.ask('map', '/page')
  assert.deepEqual([refused.status, refused.code, refused.refusal.retryAfterSeconds], [409, 'SEATS_UNAVAILABLE', 2])
  assert.deepEqual([broken.status, broken.code, broken.etag], [502, null, '"7"'])
  assert.deepEqual(seen[0], ['POST', '/base/problem', '10.0.0.7', '{"seats":["A1"]}'])
  assert.deepEqual(Object.fromEntries(tally.refusals), { 'hold SEATS_UNAVAILABLE': 1, 'map 502': 1 })
  assert.deepEqual(Object.fromEntries(tally.statuses), { 409: 1, 502: 1 })
})

test('a connection that breaks is no answer, and the next request is served', async (t) => {
  let times = 0
  const { wire, tally } = await wireTo(t, (request, response) =>
    ++times === 1 ? request.socket.destroy() : response.end('{}'),
  )
  assert.equal((await wire.ask('map', '/x')).status, 0)
  assert.equal((await wire.ask('map', '/x')).status, 200)
  assert.equal(tally.counts.get('unanswered'), 1)
})

test('dismissed, those in line go at once and uncounted; those being served get their answer, and later ones theirs', async (t) => {
  const { wire, tally } = await wireTo(t, (_, response) => void setTimeout(() => response.end('{}'), ANSWER_MS))
  const asked = Array.from({ length: 3 * CONNECTIONS }, () => wire.ask('map', '/x'))
  // Every connection is taken in the same turn of the loop; the others stand in line.
  await new Promise((resolve) => setImmediate(resolve))
  wire.dismiss()
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  assert.deepEqual(
    [statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 0).length],
    [CONNECTIONS, 2 * CONNECTIONS],
  )
  assert.equal(tally.counts.get('unanswered'), undefined)
  assert.equal((await wire.ask('map', '/x')).status, 200)
})
