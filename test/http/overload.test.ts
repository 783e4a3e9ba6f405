// When there is too much or something stands still, the answer is a quick no with Retry-After, and everybody else is served (B088, B089, SB6).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { test } from 'node:test'
import { smallHouse } from '#test/cinema/small-house.ts'

test('B089: 500 holds on a show whose lock is stuck: all 503 with Retry-After in time, nothing half-held, other shows go on', async (t) => {
  const house = await smallHouse(t)
  // Inventory numbers three apart travel in one lane; these two in different ones.
  const [stuck, other] = [await house.show(), await house.show({ startsLocal: '2026-12-05T18:45' })]
  const hold = (show: string, seats: string[]) =>
    house.post(`/v1/showtimes/${show}/holds`, { seats }, { authorization: house.customer().authorization })
  const began = performance.now()
  const replies = await house.db.sql.begin(async (tx) => {
    await tx`select 1 from inventories where id = ${Number(stuck.slice(5))} for update`
    const waiting = Array.from({ length: 500 }, (_, index) => hold(stuck, [`B${1 + (index % 10)}`]))
    let answered = 0
    for (const one of waiting) one.then(() => answered++)
    const served = await hold(other, ['B1'])
    assert.equal(served.status, 201)
    assert.equal(answered, 0, 'the other show waited for the stuck one')
    return Promise.all(waiting)
  })
  assert.ok(performance.now() - began < 8_000, `${performance.now() - began} ms`)
  for (const { status, body, headers } of replies)
    assert.deepEqual([status, body.code, headers['retry-after']], [503, 'OVERLOADED', '1'])
  assert.equal((await house.db.sql`select from holds where inventory_id = ${Number(stuck.slice(5))}`).count, 0)
  assert.equal((await hold(stuck, ['B1'])).status, 201)
})

test('a database that is gone: 503 with Retry-After, quickly, never 500', async (t) => {
  const house = await smallHouse(t)
  const show = await house.show()
  const headers = { authorization: house.customer().authorization }
  await house.db.drop()
  for (const reply of [
    await house.post(`/v1/showtimes/${show}/holds`, { seats: ['B1'] }, headers),
    await house.get(`/v1/showtimes/${show}/seats`),
    await house.get(`/v1/holds/hold_1_${'0'.repeat(32)}`, headers),
  ])
    assert.deepEqual([reply.status, reply.body.code, reply.headers['retry-after']], [503, 'DATABASE_UNAVAILABLE', '1'])
})

test('SB6: 100 connections that send their headers drop by drop are closed within 15 s, and others are served meanwhile', async (t) => {
  const { app } = await smallHouse(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const began = performance.now()
  const sockets = Array.from({ length: 100 }, () => connectSocket(port, '127.0.0.1').on('error', () => {}))
  const drip = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('X')
  }, 500)
  t.after(() => clearInterval(drip))
  for (const socket of sockets) socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nX-Slow: ')
  assert.equal((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200)
  await Promise.all(sockets.map((socket) => socket.resume() && (socket.closed || once(socket, 'close'))))
  assert.ok(performance.now() - began < 15_000, `${performance.now() - began} ms`)
})
