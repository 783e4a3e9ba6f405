// Who a request is taken for, through the door: sessions, cookies, keys, hold tokens, and pages of other sites.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App } from '#core/http.ts'
import { type TestApp, testApp } from '#test/http/test-app.ts'
import { ensureConfiguredAdminKey, makeFirstAdminKey } from './api-keys.ts'
import { mayAct, requireCustomer, requireRole } from './caller.ts'
import { holdTokenOf } from './hold-token.ts'
import { macOf } from './mac.ts'
import { loadSecrets } from './secrets.ts'
import { SESSION_TTL_S, signSession, verifySession } from './session-token.ts'

function whoRoutes(app: App): void {
  app.get('/who', async ({ caller, holdToken }) => ({ caller, holdToken }))
  app.post('/who', async (request) => ({ customerId: requireCustomer(request) }))
  app.post('/admin-only', async (request) => ({ keyId: requireRole(request, 'admin').keyId }))
}
const start = (t: Parameters<typeof testApp>[0], env = {}): Promise<TestApp> => testApp(t, env, {}, whoRoutes)

test('a session works as Bearer and as cookie, and a second one keeps the customer', async (t) => {
  const { app } = await start(t)
  const opened = await app.inject({ method: 'POST', url: '/v1/sessions' })
  assert.equal(opened.statusCode, 201)
  const { customerId, token } = opened.json()
  const cookie = String(opened.headers['set-cookie'])
  assert.match(cookie, /^holdfast_session=cs_[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)

  const bearer = await app.inject({ url: '/who', headers: { authorization: `Bearer ${token}` } })
  assert.deepEqual(bearer.json().caller, { kind: 'customer', customerId })
  const byCookie = await app.inject({ url: '/who', cookies: { holdfast_session: token } })
  assert.deepEqual(byCookie.json().caller, { kind: 'customer', customerId })
  const again = await app.inject({ method: 'POST', url: '/v1/sessions', headers: { authorization: `Bearer ${token}` } })
  assert.equal(again.json().customerId, customerId)
})

test('behind https the cookie is Secure', async (t) => {
  const { app } = await start(t, { PUBLIC_URL: 'https://tickets.example' })
  const opened = await app.inject({ method: 'POST', url: '/v1/sessions' })
  assert.match(String(opened.headers['set-cookie']), /; Secure/)
  assert.equal(opened.headers['strict-transport-security'], 'max-age=31536000')
})

test('a forged, changed, foreign or ended session token is nobody', () => {
  const secret = macOf(Buffer.alloc(32, 1))
  const { token } = signSession(secret, 'cust_a', 1_000_000_000_000)
  assert.equal(verifySession(secret, token, 1_000_000_000_000), 'cust_a')
  assert.equal(verifySession(secret, token, 1_000_000_000_000 + SESSION_TTL_S * 1000 - 1), 'cust_a')
  assert.equal(verifySession(secret, token, 1_000_000_000_000 + SESSION_TTL_S * 1000), null)
  assert.equal(verifySession(macOf(Buffer.alloc(32, 2)), token, 1_000_000_000_000), null)
  assert.equal(verifySession(secret, token.replace('cust_a', 'cust_b'), 1_000_000_000_000), null)
  assert.equal(verifySession(secret, token.slice(0, -1), 1_000_000_000_000), null)
  assert.equal(verifySession(secret, `${token}A`, 1_000_000_000_000), null)
  assert.equal(verifySession(secret, 'cs_..', 1_000_000_000_000), null)
})

test('what is sent as Bearer and is not valid is 401, never anonymous', async (t) => {
  const { app } = await start(t)
  for (const authorization of [
    'Bearer nonsense',
    'Bearer hk_x',
    'Bearer cs_a.1.b',
    'Basic YTpi',
    'Bearer',
    'Bearer a b',
    '',
  ]) {
    const reply = await app.inject({ url: '/who', headers: { authorization } })
    assert.deepEqual([reply.statusCode, reply.json().code], [401, 'UNAUTHENTICATED'], authorization)
    assert.equal(reply.headers['www-authenticate'], 'Bearer')
  }
  const stale = await app.inject({ url: '/who', cookies: { holdfast_session: 'cs_a.1.b' } })
  assert.deepEqual(stale.json().caller, { kind: 'anonymous' })
})

test('a cookie changes something only when the page that asks is ours', async (t) => {
  const { app } = await start(t, { PUBLIC_URL: 'https://tickets.example', CORS_ORIGINS: 'https://partner.example' })
  const { token } = (await app.inject({ method: 'POST', url: '/v1/sessions' })).json()
  const cookies = { holdfast_session: token }
  const cases: [headers: Record<string, string>, status: number][] = [
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ origin: 'https://tickets.example' }, 200],
    [{ origin: 'http://localhost:80', host: 'localhost:80' }, 403],
    [{ origin: 'http://localhost:8080', host: 'localhost:8080' }, 200],
    [{ origin: 'https://partner.example', 'sec-fetch-site': 'cross-site' }, 200],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', host: 'evil.example' }, 403],
    [{ origin: 'https://tickets.example.evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{}, 403],
  ]
  for (const [headers, status] of cases) {
    const reply = await app.inject({ method: 'POST', url: '/who', cookies, headers })
    assert.equal(reply.statusCode, status, JSON.stringify(headers))
    if (status === 403) assert.equal(reply.json().code, 'CROSS_ORIGIN')
  }
  // A Bearer cannot be sent by a page that does not know it.
  const bearer = { authorization: `Bearer ${token}`, origin: 'https://evil.example' }
  assert.equal((await app.inject({ method: 'POST', url: '/who', cookies, headers: bearer })).statusCode, 200)
})

test('other sites are told nothing unless they are configured', async (t) => {
  const closed = await start(t)
  const none = await closed.app.inject({ url: '/who', headers: { origin: 'https://evil.example' } })
  assert.equal(none.headers['access-control-allow-origin'], undefined)
  const { app } = await start(t, { CORS_ORIGINS: 'https://partner.example' })
  const friend = await app.inject({ url: '/who', headers: { origin: 'https://partner.example' } })
  assert.equal(friend.headers['access-control-allow-origin'], 'https://partner.example')
  const stranger = await app.inject({ url: '/who', headers: { origin: 'https://evil.example' } })
  assert.equal(stranger.headers['access-control-allow-origin'], undefined)
})

test('keys: a partner acts for the customer it names, staff for anybody, a scanner for nobody', async (t) => {
  const { app, key } = await start(t)
  const partner = await key('partner')
  const ask = (headers: Record<string, unknown>) =>
    app.inject({ method: 'POST', url: '/who', headers: headers as Record<string, string> })

  assert.equal((await ask({ authorization: partner.authorization })).statusCode, 401)
  const named = await ask({ authorization: partner.authorization, 'holdfast-customer': 'anna-1' })
  assert.equal(named.json().customerId, `partner-${partner.keyId}-anna-1`)
  for (const odd of ['', 'a b', 'x'.repeat(65), 'a.b', '%41', 'ä']) {
    const refused = await ask({ authorization: partner.authorization, 'holdfast-customer': odd })
    assert.equal(refused.statusCode, 422, odd)
  }
  const desk = await key('box_office')
  const first = (await ask({ authorization: desk.authorization })).json().customerId
  const second = (await ask({ authorization: desk.authorization })).json().customerId
  assert.match(first, new RegExp(`^staff-${desk.keyId}-`))
  assert.notEqual(first, second)
  assert.equal((await ask({ authorization: (await key('scanner')).authorization })).statusCode, 403)
})

test('roles: nobody is 401, a customer or a key without the role is 403', async (t) => {
  const { app, customer, key } = await start(t)
  const ask = async (headers: { authorization?: string }) =>
    (await app.inject({ method: 'POST', url: '/admin-only', headers })).statusCode
  assert.equal(await ask({}), 401)
  assert.equal(await ask({ authorization: customer().authorization }), 403)
  assert.equal(await ask({ authorization: (await key('partner', 'scanner')).authorization }), 403)
  assert.equal(await ask({ authorization: (await key('admin')).authorization }), 200)
})

test('mayAct: oneself, staff, and the partner whose customer it is', () => {
  const key = (roles: ('admin' | 'box_office' | 'partner' | 'scanner')[], actsFor: string | null = null) =>
    ({ kind: 'key', keyId: 7, name: 'k', roles, actsFor }) as const
  assert.equal(mayAct({ kind: 'customer', customerId: 'a' }, 'a'), true)
  assert.equal(mayAct({ kind: 'customer', customerId: 'a' }, 'b'), false)
  assert.equal(mayAct({ kind: 'anonymous' }, 'a'), false)
  assert.equal(mayAct(key(['admin']), 'a'), true)
  assert.equal(mayAct(key(['box_office']), 'a'), true)
  assert.equal(mayAct(key(['scanner']), 'a'), false)
  assert.equal(mayAct(key(['partner']), 'partner-7-anna'), true)
  assert.equal(mayAct(key(['partner']), 'partner-77-anna'), false)
  assert.equal(mayAct(key(['partner'], 'partner-7-bert'), 'partner-7-anna'), false)
})

test('a hold token comes by its header or as Bearer, beside a session or alone', async (t) => {
  const { app, customer, parts } = await start(t)
  const holdToken = holdTokenOf(parts.secrets.holdToken, '00000000-0000-4000-8000-000000000000')
  const ann = customer()
  const both = await app.inject({ url: '/who', headers: { authorization: ann.authorization, 'hold-token': holdToken } })
  assert.deepEqual(both.json(), { caller: { kind: 'customer', customerId: ann.customerId }, holdToken })
  const alone = await app.inject({ url: '/who', headers: { authorization: `Bearer ${holdToken}` } })
  assert.deepEqual(alone.json(), { caller: { kind: 'anonymous' }, holdToken })
  const odd = await app.inject({ url: '/who', headers: { 'hold-token': `${holdToken}x` } })
  assert.equal(odd.json().holdToken, null)
})

test('secrets and the first admin key are made once, by however many processes', async (t) => {
  const { db } = await start(t)
  const all = await Promise.all(Array.from({ length: 8 }, () => loadSecrets(db.sql)))
  const proofs = all.map(({ session, holdToken }) =>
    [session('x'), holdToken('x')].map((proof) => proof.toString('hex')),
  )
  for (const proof of proofs) assert.deepEqual(proof, proofs[0])
  const keys = await Promise.all(Array.from({ length: 8 }, () => makeFirstAdminKey(db.sql)))
  assert.equal(keys.filter((key) => key !== null).length, 1)
})

test('a new configured admin key ends the old one', async (t) => {
  const { app, db } = await start(t)
  const ask = async (key: string) =>
    (await app.inject({ method: 'POST', url: '/admin-only', headers: { authorization: `Bearer ${key}` } })).statusCode
  await ensureConfiguredAdminKey(db.sql, 'first-configured-key-0001')
  await ensureConfiguredAdminKey(db.sql, 'first-configured-key-0001')
  await ensureConfiguredAdminKey(db.sql, 'second-configured-key-0002')
  assert.equal(await ask('first-configured-key-0001'), 401)
  assert.equal(await ask('second-configured-key-0002'), 200)
})
