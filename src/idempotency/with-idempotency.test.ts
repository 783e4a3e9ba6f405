// Rule 8 through a door of the test's own: B031, many at once, a crash, a restart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import type { Parts } from '#app.ts'
import { type App, closed } from '#core/http.ts'
import { Problem } from '#core/problem.ts'
import { testApp } from '#test/http/test-app.ts'
import { LEASE_MS, pruneAnswers, takeLease } from './answer-store.ts'
import { withIdempotency } from './with-idempotency.ts'

type Behaviour = {
  runs: number
  next: (run: number) => Promise<{ status: number; body: { run: number; token: string } }>
}

function counter(): Behaviour {
  return { runs: 0, next: async (run) => ({ status: 201, body: { run, token: `secret-${run}` } }) }
}

const doors =
  (behaviour: Behaviour) =>
  (app: App, { sql }: Parts) => {
    const body = closed({ seats: Type.Array(Type.String()), note: Type.Optional(Type.String()) })
    for (const door of ['one', 'two']) {
      app.post(`/v1/${door}`, { schema: { body } }, (request, reply) =>
        withIdempotency(
          request,
          reply,
          {
            sql,
            inventoryId: 42,
            door,
            required: door === 'two',
            secret: { field: 'token', restore: (b) => ({ ...b, token: `secret-${b.run}` }) },
          },
          () => behaviour.next(++behaviour.runs),
        ),
      )
    }
  }

test('B031: another body is 422, another customer or door is independent, a repeat is the stored answer', async (t) => {
  const behaviour = counter()
  const { app, customer, db } = await testApp(t, {}, {}, doors(behaviour))
  const [ann, bob] = [customer(), customer()]
  const post = (who: { authorization: string }, url: string, payload: object, key = 'k1') =>
    app.inject({ method: 'POST', url, payload, headers: { authorization: who.authorization, 'idempotency-key': key } })

  const first = await post(ann, '/v1/one', { seats: ['F7'], note: 'x' })
  assert.deepEqual(
    [first.statusCode, first.json(), first.headers['idempotent-replayed']],
    [201, { run: 1, token: 'secret-1' }, undefined],
  )
  const repeat = await post(ann, '/v1/one', { note: 'x', seats: ['F7'] })
  assert.deepEqual(
    [repeat.statusCode, repeat.json(), repeat.headers['idempotent-replayed']],
    [201, { run: 1, token: 'secret-1' }, 'true'],
  )
  const changed = await post(ann, '/v1/one', { seats: ['F8'], note: 'x' })
  assert.deepEqual([changed.statusCode, changed.json().code], [422, 'IDEMPOTENCY_KEY_REUSED'])
  assert.equal((await post(bob, '/v1/one', { seats: ['F8'] })).json().run, 2)
  assert.equal((await post(ann, '/v1/two', { seats: ['F7'] })).json().run, 3)
  assert.equal(behaviour.runs, 3)
  const stored = await db.sql`select reply_body::text as text from idempotency_keys`
  assert.doesNotMatch(JSON.stringify(stored), /secret-/)
})

test('one changed byte of the body is another request', async (t) => {
  const { app, customer } = await testApp(t, {}, {}, doors(counter()))
  const headers = { authorization: customer().authorization, 'idempotency-key': 'k' }
  const post = async (note: string) =>
    (await app.inject({ method: 'POST', url: '/v1/one', payload: { seats: [], note }, headers })).statusCode
  assert.equal(await post('é'), 201)
  assert.equal(await post('é'), 201)
  assert.equal(await post('e\u0301'), 422)
  assert.equal(await post('é '), 422)
})

test('32 at once with one key, over two processes: one runs, all get its answer', async (t) => {
  const behaviour = counter()
  behaviour.next = async (run) => {
    await sleep(150)
    return { status: 201, body: { run, token: `secret-${run}` } }
  }
  const one = await testApp(t, {}, {}, doors(behaviour))
  const other = await testApp(t, {}, { sql: one.db.connect(10), secrets: one.parts.secrets }, doors(behaviour))
  const headers = { authorization: one.customer().authorization, 'idempotency-key': 'same' }
  const replies = await Promise.all(
    Array.from({ length: 32 }, (_, i) =>
      (i % 2 ? one : other).app.inject({ method: 'POST', url: '/v1/one', payload: { seats: ['A1'] }, headers }),
    ),
  )
  assert.equal(behaviour.runs, 1)
  assert.deepEqual(
    new Set(replies.map((reply) => `${reply.statusCode} ${reply.body}`)),
    new Set(['201 {"run":1,"token":"secret-1"}']),
  )
  assert.equal(replies.filter((reply) => reply.headers['idempotent-replayed']).length, 31)
})

test('a first request that takes longer than patience: 409 with Retry-After, then its answer', async (t) => {
  const behaviour = counter()
  let finish = () => {}
  behaviour.next = (run) =>
    new Promise((resolve) => {
      finish = () => resolve({ status: 201, body: { run, token: `secret-${run}` } })
    })
  const { app, customer } = await testApp(t, {}, {}, doors(behaviour))
  const headers = { authorization: customer().authorization, 'idempotency-key': 'slow' }
  const post = () => app.inject({ method: 'POST', url: '/v1/one', payload: { seats: [] }, headers })
  const first = post().then((reply) => reply)
  while (behaviour.runs === 0) await sleep(5)
  const second = await post()
  assert.deepEqual(
    [second.statusCode, second.json().code, second.headers['retry-after']],
    [409, 'IDEMPOTENCY_IN_PROGRESS', '1'],
  )
  finish()
  assert.equal((await first).statusCode, 201)
  assert.equal((await post()).json().run, 1)
})

test('B031: 409, 429 and 5xx are not stored, other refusals are', async (t) => {
  const behaviour = counter()
  const { app, customer } = await testApp(t, {}, {}, doors(behaviour))
  const headers = { authorization: customer().authorization }
  const post = (key: string) =>
    app.inject({
      method: 'POST',
      url: '/v1/one',
      payload: { seats: ['F7'] },
      headers: { ...headers, 'idempotency-key': key },
    })
  const refusals = [
    [() => new Problem('SEATS_UNAVAILABLE', { seats: [{ code: 'F7', reason: 'held' }] }), 409, 2],
    [() => new Problem('TOO_MANY_ATTEMPTS', { retryAfterSeconds: 9 }), 429, 2],
    [() => new Problem('OVERLOADED', { retryAfterSeconds: 1 }), 503, 2],
    [() => new Error('a bug'), 500, 2],
    [() => new Problem('HOLD_EXPIRED'), 410, 1],
    [() => new Problem('CUSTOMER_SEAT_LIMIT', { limit: 8, have: 8 }), 422, 1],
  ] as const
  for (const [make, status, runs] of refusals) {
    const key = `key-${status}-${runs}`
    const before = behaviour.runs
    behaviour.next = async () => {
      throw make()
    }
    const first = await post(key)
    const second = await post(key)
    assert.deepEqual([first.statusCode, second.statusCode], [status, status])
    assert.equal(behaviour.runs - before, runs, `${status} ran ${runs} times`)
    assert.equal(second.headers['idempotent-replayed'], runs === 1 ? 'true' : undefined)
    const { requestId: _1, ...a } = first.json()
    const { requestId: _2, ...b } = second.json()
    assert.deepEqual(a, b)
  }
})

test('a crash leaves a lease: while it lasts 409, after it the next request takes over', async (t) => {
  const behaviour = counter()
  const { app, customer, db } = await testApp(t, {}, {}, doors(behaviour))
  const ann = customer()
  const headers = { authorization: ann.authorization, 'idempotency-key': 'crashed' }
  const post = () => app.inject({ method: 'POST', url: '/v1/one', payload: { seats: ['F7'] }, headers })
  await post()
  // As a process leaves it that dies between its work and its note.
  await db.sql`update idempotency_keys set status = 'IN_PROGRESS', reply_status = null, reply_body = null`
  const waiting = await post()
  assert.equal(waiting.json().code, 'IDEMPOTENCY_IN_PROGRESS')
  await db.shiftClock(LEASE_MS + 1)
  const [a, b] = await Promise.all([post(), post()])
  assert.deepEqual([a.statusCode, b.statusCode, a.json().run, b.json().run], [201, 201, 2, 2])
  assert.equal(behaviour.runs, 2)
})

test('the lease is taken over at its very end, by one', async (t) => {
  const { db } = await testApp(t)
  const slot = { inventoryId: 1, scope: 's', key: 'k' }
  await db.freezeClock(null)
  const leaseUntil = await takeLease(db.sql, slot, 'aa')
  assert.ok(leaseUntil)
  assert.equal(await takeLease(db.sql, slot, 'aa'), null)
  await db.freezeClock(leaseUntil)
  const taken = await Promise.all(Array.from({ length: 8 }, () => takeLease(db.sql, slot, 'aa')))
  assert.equal(taken.filter((lease) => lease !== null).length, 1)
})

test('the answer is there after a restart and gone after a day', async (t) => {
  const behaviour = counter()
  const one = await testApp(t, {}, {}, doors(behaviour))
  const headers = { authorization: one.customer().authorization, 'idempotency-key': 'kept' }
  const post = (app: App) => app.inject({ method: 'POST', url: '/v1/one', payload: { seats: [] }, headers })
  await post(one.app)
  const restarted = await testApp(t, {}, { sql: one.db.connect(2), secrets: one.parts.secrets }, doors(behaviour))
  assert.equal((await post(restarted.app)).headers['idempotent-replayed'], 'true')
  assert.equal(await pruneAnswers(one.db.sql), 0)
  await one.db.shiftClock(24 * 3600_000 + 1000)
  assert.equal(await pruneAnswers(one.db.sql), 1)
  assert.equal((await post(restarted.app)).json().run, 2)
})

test('keys: missing where required, empty, too long, not visible ASCII, a list', async (t) => {
  const { app, customer } = await testApp(t, {}, {}, doors(counter()))
  const { authorization } = customer()
  const post = async (key: string | undefined) => {
    const headers = key === undefined ? { authorization } : { authorization, 'idempotency-key': key }
    const reply = await app.inject({ method: 'POST', url: '/v1/two', payload: { seats: [] }, headers })
    return [reply.statusCode, reply.json().code]
  }
  assert.deepEqual(await post(undefined), [400, 'IDEMPOTENCY_KEY_REQUIRED'])
  for (const key of ['', 'x'.repeat(256), 'a b', 'a, b', 'é', 'tab\tin']) {
    assert.deepEqual(await post(key), [400, 'IDEMPOTENCY_KEY_INVALID'], key)
  }
  for (const key of ['x', 'x'.repeat(255), '"quoted"', '!~']) assert.equal((await post(key))[0], 201, key)
})
