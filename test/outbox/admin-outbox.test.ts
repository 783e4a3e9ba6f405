// What an admin sees and does when a sink is behind or will not take an event: by the doors, with the worklist and the metrics.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ATTEMPTS_MAX } from '#outbox/note-outcome.ts'
import { registerSinks } from '#outbox/register-sinks.ts'
import { relayTo } from '#outbox/relay.ts'
import { testApp } from '#test/http/test-app.ts'
import { bookings, memorySink, tell } from '#test/outbox/outbox-ground.ts'
import { reportParked } from '../../src/all-workers.ts'
import { watchDatabase } from '../../src/watch-database.ts'

type Parked = { sink: string; eventId: string; sequence: number; waiting: number; lastError: string }

test('a parked event is on the worklist, in the list and in the metrics; retried it leaves, dropped it lets the others leave', async (t) => {
  const { app, db, parts, key } = await testApp(t)
  watchDatabase(parts.metrics, db.sql)
  const { authorization } = await key('admin')
  async function call<T>(method: 'GET' | 'POST' | 'DELETE', url: string): Promise<{ status: number; body: T }> {
    const reply = await app.inject({ method, url, headers: { authorization } })
    return { status: reply.statusCode, body: (reply.body ? reply.json() : null) as T }
  }
  const parkedNow = async () => (await call<{ items: Parked[] }>('GET', '/v1/admin/outbox/parked')).body.items

  await registerSinks(db.sql, ['picky'])
  const [one = '', two = ''] = await bookings(db.sql, 2)
  for (const note of [1, 2]) for (const id of [one, two]) await tell(db.sql, id, note)
  let poison = true
  const { sink, seqs } = memorySink((event) => (poison && event.seq === 1 ? 'no' : null))
  const picky = { ...sink, name: 'picky' }
  for (let round = 0; round < ATTEMPTS_MAX; round++) {
    await db.shiftClock(round * 120_000)
    await relayTo(db.sql, picky, reportParked)
  }
  const parked = await parkedNow()
  assert.deepEqual(
    parked.map(({ sink: name, sequence, waiting, lastError }) => [name, sequence, waiting, lastError]),
    [
      ['picky', 1, 1, 'no'],
      ['picky', 1, 1, 'no'],
    ],
  )
  const worklist = await call<{ items: { kind: string; facts: { sink: string; eventId: string } }[] }>(
    'GET',
    '/v1/admin/worklist',
  )
  assert.deepEqual(
    worklist.body.items.map(({ kind, facts }) => [kind, facts.sink]),
    [
      ['EVENT_PARKED', 'picky'],
      ['EVENT_PARKED', 'picky'],
    ],
  )
  assert.match(await parts.metrics.report(), /holdfast_outbox_parked\{sink="picky"\} 2/)

  poison = false
  const [first, second] = parked
  assert.equal((await call('POST', `/v1/admin/outbox/parked/picky/${first?.eventId}/retry`)).status, 204)
  assert.equal((await call('DELETE', `/v1/admin/outbox/parked/picky/${second?.eventId}`)).status, 204)
  assert.equal((await call('DELETE', `/v1/admin/outbox/parked/picky/${second?.eventId}`)).status, 404)
  await relayTo(db.sql, picky)
  assert.deepEqual([seqs(one), seqs(two)].toSorted(), [[1, 2], [2]])
  assert.deepEqual(await parkedNow(), [])

  const sinks = await call<{ items: { sink: string; unsent: number; oldestUnsentSeconds: number }[] }>(
    'GET',
    '/v1/admin/outbox/sinks',
  )
  assert.deepEqual(
    sinks.body.items.map(({ sink: name, unsent }) => [name, unsent]),
    [
      ['in-process', 4],
      ['picky', 0],
    ],
  )
  assert.ok((sinks.body.items[0]?.oldestUnsentSeconds ?? 0) > 1_000)
  assert.equal((await call('DELETE', '/v1/admin/outbox/sinks/picky')).status, 200)
  assert.equal((await call('DELETE', '/v1/admin/outbox/sinks/picky')).status, 404)
})

test('the doors of the outbox are an admin’s', async (t) => {
  const { app, key } = await testApp(t)
  const { authorization } = await key('partner')
  for (const url of ['/v1/admin/outbox/sinks', '/v1/admin/outbox/parked']) {
    assert.equal((await app.inject({ url, headers: { authorization } })).statusCode, 403)
    assert.equal((await app.inject({ url })).statusCode, 401)
  }
})
