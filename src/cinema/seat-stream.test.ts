// The live seats through the door: a snapshot, then every change in order; resumed without a gap, bounded in number, and nobody's slowness is anybody else's.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '#config.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { smallHouse } from '#test/cinema/small-house.ts'
import { openEventStream } from '#test/support/event-stream.ts'
import { addScreen } from './add-screen.ts'
import { seatsOfPattern } from './row-pattern.ts'

async function openHouse(t: TestContext, env: Environment = {}) {
  const house = await smallHouse(t, env)
  const url = await house.app.listen({ port: 0, host: '127.0.0.1' })
  const id = await house.show()
  const stream = async (headers: Record<string, string> = {}) => {
    const opened = await openEventStream(`${url}/v1/showtimes/${id}/seats/stream`, headers)
    t.after(() => opened.close())
    return opened
  }
  const hold = async (seats: string[]) =>
    (await house.post(`/v1/showtimes/${id}/holds`, { seats }, house.customer())).body
  const viewers = async () =>
    Number(/^holdfast_seat_stream_viewers (\d+)$/m.exec(await house.parts.metrics.report())?.[1])
  return { house, url, id, stream, hold, viewers }
}

test('first the whole picture, then each change; a hold that ends is a change too, under the same version', async (t) => {
  const { house, id, stream, hold } = await openHouse(t)
  const live = await stream()
  assert.equal(live.status, 200)
  assert.match(String(live.headers['content-type']), /^text\/event-stream/)
  assert.equal(live.headers['x-accel-buffering'], 'no')
  assert.match(String(live.headers['cache-control']), /no-store/)
  const held = await hold(['A1', 'A2'])
  await live.until(2)
  await house.db.freezeClock(held.expiresAt)
  const [snapshot, taken, freed] = await live.until(3)
  assert.deepEqual(snapshot, {
    id: '1',
    event: 'snapshot',
    data: { showtimeId: id, version: 1, asOf: '2026-12-01T00:00:00.000000Z', statuses: 'A'.repeat(60) },
  })
  const changes = (status: string) => ['A1', 'A2'].map((code) => ({ code, status }))
  assert.deepEqual(taken, {
    id: '2',
    event: 'delta',
    data: { version: 2, asOf: '2026-12-01T00:00:00.000000Z', changes: changes('HELD') },
  })
  assert.deepEqual(freed, {
    id: '2.1',
    event: 'delta',
    data: { version: 2, asOf: held.expiresAt, changes: changes('AVAILABLE') },
  })
  for (const secret of [held.holdId, held.holdToken, 'cust_', 'mine']) assert.ok(!live.text().includes(secret), secret)
})

test('trap 26: Last-Event-ID brings what was missed and nothing twice; an id nobody remembers brings a snapshot', async (t) => {
  const { stream, hold } = await openHouse(t)
  // Somebody stays, so that the board is followed meanwhile.
  const stays = await stream()
  const leaves = await stream()
  await hold(['A1'])
  await leaves.until(2)
  leaves.close()
  await hold(['A2'])
  await hold(['A3'])
  await stays.until(4)
  const back = await stream({ 'last-event-id': '2' })
  await hold(['A4'])
  assert.deepEqual(
    (await back.until(3)).map(({ id, event }) => [id, event]),
    [
      ['3', 'delta'],
      ['4', 'delta'],
      ['5', 'delta'],
    ],
  )
  for (const unknown of ['99', '2.7', 'abc', '-1']) {
    const [first] = await (await stream({ 'last-event-id': unknown })).until(1)
    assert.deepEqual([first?.event, first?.id], ['snapshot', '5'], unknown)
  }
})

test('an unknown show is 404 as everywhere', async (t) => {
  const { url, viewers } = await openHouse(t)
  for (const id of ['show_999999', 'show_x', 'hold_1'])
    assert.equal((await openEventStream(`${url}/v1/showtimes/${id}/seats/stream`)).status, 404)
  assert.equal(await viewers(), 0)
})

test('SB7: an address has a budget, the process another; who leaves makes room', async (t) => {
  const { stream, viewers } = await openHouse(t, { SSE_CONNECTIONS_PER_ADDRESS_MAX: '2' })
  const first = await stream()
  await stream()
  const refused = await stream()
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '5')
  first.close()
  for (const deadlineMs = performance.now() + 5_000; (await viewers()) > 1 && performance.now() < deadlineMs; )
    await sleep(20)
  assert.equal((await stream()).status, 200)
})

test('SB7: beyond what the process may have it is 503 with Retry-After', async (t) => {
  const { stream } = await openHouse(t, { SSE_CONNECTIONS_MAX: '1' })
  await stream()
  const refused = await stream()
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5'])
})

test('the server’s end is the streams’ end, at once', async (t) => {
  const { house, stream } = await openHouse(t)
  const live = await stream()
  const startedMs = performance.now()
  await house.app.close()
  await live.ended
  assert.ok(performance.now() - startedMs < 4_000)
})

test('SB7: who does not read is dropped and the others go on', async (t) => {
  const { house, url, viewers } = await openHouse(t)
  const seats = seatsOfPattern({ rows: 50, seatsPerRow: 100, category: 'CLASSIC' })
  const screenId = await addScreen(house.db.sql, { cinemaId: house.cinemaId, name: 'Arena', seats })
  const id = await house.show({ screenId })
  const codes = seats.map(({ code }) => code)
  const inventoryId = Number(id.slice('show_'.length))
  const store = postgresStore(house.db.sql)
  const { hostname, port } = new URL(url)
  const sleeper = connect(Number(port), hostname)
  t.after(() => sleeper.destroy())
  sleeper.write(`GET /v1/showtimes/${id}/seats/stream HTTP/1.1\r\nHost: x\r\n\r\n`)
  sleeper.pause()
  sleeper.on('error', () => {})
  const reader = await openEventStream(`${url}/v1/showtimes/${id}/seats/stream`)
  t.after(() => reader.close())
  for (let round = 0; round < 150 && (await viewers()) !== 1; round++) {
    if (round % 2 === 0) await store.block(inventoryId, codes, 'test', 'wave')
    else await store.unblock(inventoryId, codes)
    await reader.until(round + 2, 20_000)
  }
  assert.equal(await viewers(), 1)
})
