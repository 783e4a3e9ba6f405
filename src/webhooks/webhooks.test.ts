// A partner's way: an endpoint of its own, signed messages about its own customers, retries for three days, replays, a new secret, and what goes wrong.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { relayTo } from '#outbox/relay.ts'
import { testApp } from '#test/http/test-app.ts'
import { bookings, tell } from '#test/outbox/outbox-ground.ts'
import { isSignedWith, startReceiver } from '#test/outbox/webhook-receiver.ts'
import { sendDue } from './deliver-webhooks.ts'
import { webhooksSink } from './fan-out.ts'
import { RETRY_PAUSES_S } from './note-answer.ts'
import { reachOf } from './public-address.ts'

type Hook = {
  id: string
  secret: string
  status: string
  note: string | null
  failingSince: string | null
  bookings: string
}
const DAY_S = 86_400

async function ground(t: TestContext, env: Record<string, string> = { WEBHOOK_ALLOW_PRIVATE: 'on' }) {
  const served = await testApp(t, env)
  const { app, db, parts } = served
  const [partner, rival, admin] = [await served.key('partner'), await served.key('partner'), await served.key('admin')]
  const reach = reachOf(parts.config)
  const sink = webhooksSink({ sql: db.sql, wake: () => {} })
  async function call<T>(
    key: { authorization: string },
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
  ) {
    const reply = await app.inject({
      method,
      url,
      headers: { authorization: key.authorization },
      ...(payload ? { payload } : {}),
    })
    return { status: reply.statusCode, body: (reply.body ? reply.json() : null) as T }
  }
  return {
    ...{ app, db, partner, rival, admin, call },
    async hook(key: { authorization: string }, url: string, more: object = {}) {
      const { status, body } = await call<Hook>(key, 'POST', '/v1/webhooks', { url, ...more })
      assert.equal(status, 201, JSON.stringify(body))
      return body
    },
    /** From the outbox to the receivers, as the workers would. */
    async work() {
      await relayTo(db.sql, sink)
      return sendDue(db.sql, reach)
    },
    bookingOf: async (key: { keyId: string }) => (await bookings(db.sql, 1, `partner-${key.keyId}-anna`))[0] ?? '',
    deliveries: async (key: { authorization: string }, id: string) =>
      (
        await call<{
          items: {
            status: string
            attempts: number
            lastStatus: number | null
            eventId: string
            lastError: string | null
          }[]
        }>(key, 'GET', `/v1/webhooks/${id}/deliveries`)
      ).body.items,
  }
}

const nowSeconds = () => Date.now() / 1_000

test('a partner is told of its own customers only, an admin of everybody, each signed with its own secret', async (t) => {
  const { db, partner, rival, admin, hook, work, bookingOf } = await ground(t)
  const [mine, theirs, all] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)]
  const mineHook = await hook(partner, mine.url)
  const theirsHook = await hook(rival, theirs.url)
  const allHook = await hook(admin, all.url)
  assert.deepEqual([mineHook.bookings, allHook.bookings], ['OWN', 'ALL'])
  assert.match(mineHook.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const [booking, foreign] = [await bookingOf(partner), await bookingOf(rival)]
  for (const id of [booking, foreign, booking]) await tell(db.sql, id, 'x')
  assert.equal(await work(), 6)
  assert.deepEqual(
    [mine, theirs, all].map(({ received }) => received.length),
    [2, 1, 3],
  )
  const [first] = mine.received
  const [row] = await db.sql`select id, created_at from outbox where booking_id = ${booking} and seq = 1`
  assert.deepEqual(mine.received.map(({ body }) => body.sequence).toSorted(), [1, 2])
  const told = mine.received.find(({ body }) => body.sequence === 1)
  assert.deepEqual(told?.body, {
    type: 'BookingPending',
    timestamp: row?.createdAt,
    bookingId: `book_1_${booking.replaceAll('-', '')}`,
    sequence: 1,
    data: { note: 'x' },
  })
  assert.equal(told?.headers['webhook-id'], row?.id)
  assert.ok(first && isSignedWith(mineHook.secret, first, nowSeconds()))
  assert.ok(!isSignedWith(theirsHook.secret, first, nowSeconds()))
  assert.ok(!isSignedWith(mineHook.secret, { ...first, text: `${first.text} ` }, nowSeconds()))
})

test('an event filter lets through what it names', async (t) => {
  const { db, partner, hook, work, bookingOf } = await ground(t)
  const { url, received } = await startReceiver(t)
  await hook(partner, url, { events: ['BookingConfirmed'] })
  await tell(db.sql, await bookingOf(partner), 'x')
  assert.equal(await work(), 0)
  assert.equal(received.length, 0)
})

test('a rotated secret signs along for its time, and not after', async (t) => {
  const { db, partner, hook, call, work, bookingOf } = await ground(t)
  const { url, received } = await startReceiver(t)
  const { id, secret } = await hook(partner, url)
  const rotated = await call<{ secret: string }>(partner, 'POST', `/v1/webhooks/${id}/rotate-secret`, {
    keepPreviousSeconds: 60,
  })
  const booking = await bookingOf(partner)
  const signedWith = async () => {
    await tell(db.sql, booking, 'x')
    await work()
    const last = received.at(-1)
    assert.ok(last)
    const at = Number(last.headers['webhook-timestamp'])
    return [secret, rotated.body.secret].map((one) => isSignedWith(one, last, at))
  }
  assert.notEqual(rotated.body.secret, secret)
  assert.deepEqual(await signedWith(), [true, true])
  await db.shiftClock(61_000)
  assert.deepEqual(await signedWith(), [false, true])
})

test('what fails is tried again by the schedule for three days under the same id, then it is dead and the endpoint disabled with a note', async (t) => {
  const { db, partner, hook, call, work, bookingOf, deliveries } = await ground(t)
  const { url, received } = await startReceiver(t, () => 503)
  const { id } = await hook(partner, url)
  await tell(db.sql, await bookingOf(partner), 'x')
  assert.equal(await work(), 1)
  assert.equal(await work(), 0)
  let passedS = 0
  for (const pauseS of RETRY_PAUSES_S) {
    await db.shiftClock((passedS + pauseS * 0.89) * 1_000)
    assert.equal(await work(), 0, `not before its time (${pauseS} s)`)
    passedS += pauseS * 1.1 + 1
    await db.shiftClock(passedS * 1_000)
    assert.equal(await work(), 1)
  }
  const sumS = RETRY_PAUSES_S.reduce((sum, pauseS) => sum + pauseS, 0)
  assert.ok(sumS >= 3 * DAY_S && sumS < 4 * DAY_S, 'three days')
  assert.equal(received.length, RETRY_PAUSES_S.length + 1)
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
  const [dead] = await deliveries(partner, id)
  assert.deepEqual([dead?.status, dead?.attempts, dead?.lastStatus], ['DEAD', 10, 503])
  const now = (await call<Hook>(partner, 'GET', `/v1/webhooks/${id}`)).body
  assert.deepEqual([now.status, now.note], ['DISABLED', 'It took nothing for three days; the last time: answered 503'])
})

test('a success ends the record of failures; 410 disables at once', async (t) => {
  const { db, partner, hook, call, work, bookingOf } = await ground(t)
  const answers = [500, 200, 410]
  const { url } = await startReceiver(t, () => answers.shift() ?? 200)
  const { id } = await hook(partner, url)
  const read = async () => (await call<Hook>(partner, 'GET', `/v1/webhooks/${id}`)).body
  const booking = await bookingOf(partner)
  await tell(db.sql, booking, 1)
  await work()
  assert.notEqual((await read()).failingSince, null)
  await db.shiftClock(6_000)
  await work()
  assert.equal((await read()).failingSince, null)
  await tell(db.sql, booking, 2)
  await work()
  assert.deepEqual([(await read()).status, (await read()).note], ['DISABLED', 'It answered 410 Gone.'])
})

test('while disabled nothing is sent; enabled again, a replay brings what was missed and what was sent', async (t) => {
  const { db, partner, hook, call, work, bookingOf, deliveries } = await ground(t)
  const { url, received } = await startReceiver(t)
  const { id } = await hook(partner, url)
  const booking = await bookingOf(partner)
  const [clock] = await db.sql<{ now: string }[]>`select holdfast_now() as now`
  await tell(db.sql, booking, 1)
  await work()
  await call(partner, 'PATCH', `/v1/webhooks/${id}`, { status: 'DISABLED' })
  await tell(db.sql, booking, 2)
  assert.equal(await work(), 0)
  await call(partner, 'PATCH', `/v1/webhooks/${id}`, { status: 'ACTIVE' })
  assert.equal(await work(), 0)
  const replayed = await call<{ queued: number }>(partner, 'POST', `/v1/webhooks/${id}/replay`, { since: clock?.now })
  assert.deepEqual([replayed.status, replayed.body.queued], [202, 2])
  assert.equal(await work(), 2)
  assert.deepEqual(received.map(({ body }) => body.sequence).toSorted(), [1, 1, 2])
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 2)
  const [one] = await deliveries(partner, id)
  const again = await call(partner, 'POST', `/v1/webhooks/${id}/deliveries/${one?.eventId}/replay`)
  assert.equal(again.status, 202)
  assert.equal(await work(), 1)
  const unknown = await call(partner, 'POST', `/v1/webhooks/${id}/deliveries/${crypto.randomUUID()}/replay`)
  assert.equal(unknown.status, 404)
})

test('somebody else’s webhook is not there; customers and scanners have none; a revoked key is told nothing', async (t) => {
  const { app, db, partner, rival, admin, hook, call, work, bookingOf } = await ground(t)
  const { url, received } = await startReceiver(t)
  const { id } = await hook(partner, url)
  for (const [method, path, payload] of [
    ['GET', '', undefined],
    ['PATCH', '', { description: 'mine now' }],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', {}],
    ['POST', '/test', undefined],
    ['GET', '/deliveries', undefined],
    ['POST', '/replay', { since: '2026-01-01T00:00:00Z' }],
  ] as const)
    assert.equal((await call(rival, method, `/v1/webhooks/${id}${path}`, payload)).status, 404, `${method} ${path}`)
  assert.equal((await call<{ items: Hook[] }>(rival, 'GET', '/v1/webhooks')).body.items.length, 0)
  const seen = (await call<{ items: Hook[] }>(admin, 'GET', '/v1/webhooks')).body.items
  assert.deepEqual(
    seen.map((one) => [one.id, 'secret' in one]),
    [[id, false]],
  )
  assert.equal((await app.inject({ method: 'GET', url: '/v1/webhooks' })).statusCode, 401)
  await db.sql`update api_keys set revoked_at = now() where id = ${Number(partner.keyId)}`
  await tell(db.sql, await bookingOf(partner), 'x')
  assert.equal(await work(), 0)
  assert.equal(received.length, 0)
})

test('a slow receiver holds up nobody else', async (t) => {
  const { db, partner, rival, hook, work, bookingOf } = await ground(t)
  const slow = await startReceiver(t, () => 0)
  const quick = await startReceiver(t)
  await hook(partner, slow.url)
  await hook(rival, quick.url)
  const [stuck, flowing] = [await bookingOf(partner), await bookingOf(rival)]
  for (let note = 1; note <= 10; note++) for (const id of [stuck, flowing]) await tell(db.sql, id, note)
  const startedMs = performance.now()
  const working = work()
  while (quick.received.length < 10 && performance.now() - startedMs < 9_000)
    await new Promise((r) => setTimeout(r, 20))
  assert.equal(quick.received.length, 10)
  assert.ok(slow.received.length <= 4, 'a few at once, no more')
  await working
})

test('two workers at once send each message once', async (t) => {
  const { db, partner, hook, work, bookingOf } = await ground(t)
  const { url, received } = await startReceiver(t)
  await hook(partner, url)
  const booking = await bookingOf(partner)
  for (let note = 1; note <= 40; note++) await tell(db.sql, booking, note)
  await Promise.all([work(), work(), work()])
  assert.equal(received.length, 40)
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 40)
})

test('a test message says what came of it, and an address inside the network is refused at every door', async (t) => {
  const { partner, hook, call } = await ground(t)
  const { url, received } = await startReceiver(t, () => 418)
  const { id, secret } = await hook(partner, url)
  const tested = await call<{ delivered: boolean; status: number }>(partner, 'POST', `/v1/webhooks/${id}/test`)
  assert.deepEqual([tested.body.delivered, tested.body.status], [false, 418])
  assert.ok(received[0] && isSignedWith(secret, received[0], nowSeconds()))
  assert.equal(received[0].body.type, 'Test')

  const strict = await ground(t, {})
  for (const bad of ['http://example.com/', 'https://127.0.0.1/', 'https://localhost/', 'https://[::1]/']) {
    const refused = await strict.call<{ code: string }>(strict.partner, 'POST', '/v1/webhooks', { url: bad })
    assert.deepEqual([refused.status, refused.body.code], [422, 'WEBHOOK_URL_REFUSED'], bad)
  }
})

test('an endpoint made while private addresses were allowed is told nothing when they are not any more', async (t) => {
  const { db, partner, hook, bookingOf, deliveries } = await ground(t)
  const { url, received } = await startReceiver(t)
  const { id } = await hook(partner, url)
  await tell(db.sql, await bookingOf(partner), 'x')
  await relayTo(db.sql, webhooksSink({ sql: db.sql, wake: () => {} }))
  await sendDue(db.sql, reachOf({ webhookAllowPrivate: 'off' }))
  assert.equal(received.length, 0)
  assert.match((await deliveries(partner, id))[0]?.lastError ?? '', /https/)
})

test('taken away, it is told nothing; one key has a bounded number', async (t) => {
  const { db, partner, hook, call, work, bookingOf } = await ground(t)
  const { url, received } = await startReceiver(t)
  const { id } = await hook(partner, url)
  await tell(db.sql, await bookingOf(partner), 'x')
  assert.equal((await call(partner, 'DELETE', `/v1/webhooks/${id}`)).status, 204)
  assert.equal(await work(), 0)
  assert.equal(received.length, 0)
  for (let count = 0; count < 20; count++) await hook(partner, url)
  const over = await call<{ code: string }>(partner, 'POST', '/v1/webhooks', { url })
  assert.deepEqual([over.status, over.body.code], [409, 'WEBHOOK_LIMIT'])
})
