// Keys and the worklist through their doors: who may, what is shown once, what revoking does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresStore } from '#inventory/postgres-store.ts'
import { testApp } from '#test/http/test-app.ts'

test('a key is made, shown once, works, is listed without itself, and is revoked', async (t) => {
  const { app, key, db } = await testApp(t)
  const { authorization } = await key('admin')
  const headers = { authorization }
  const made = await app.inject({
    method: 'POST',
    url: '/v1/admin/api-keys',
    headers,
    payload: { name: 'Desk 1', roles: ['box_office'] },
  })
  assert.equal(made.statusCode, 201)
  const { id, key: secret } = made.json()
  assert.match(secret, /^hk_[A-Za-z0-9_-]{43}$/)
  const desk = { authorization: `Bearer ${secret}` }
  assert.equal((await app.inject({ url: '/v1/admin/api-keys', headers: desk })).statusCode, 403)

  const list = await app.inject({ url: '/v1/admin/api-keys?limit=1', headers })
  assert.deepEqual(
    [list.json().items[0].name, list.json().items[0].status, list.json().nextCursor],
    ['Desk 1', 'ACTIVE', id],
  )
  assert.doesNotMatch(list.body, new RegExp(secret))
  const next = await app.inject({ url: `/v1/admin/api-keys?cursor=${id}`, headers })
  assert.deepEqual([next.json().items.length, next.json().nextCursor], [1, null])
  assert.doesNotMatch(JSON.stringify(await db.sql`select * from api_keys`), new RegExp(secret))

  for (let time = 0; time < 2; time++) {
    assert.equal((await app.inject({ method: 'DELETE', url: `/v1/admin/api-keys/${id}`, headers })).statusCode, 204)
  }
  assert.equal((await app.inject({ url: '/v1/admin/api-keys', headers })).json().items[0].status, 'REVOKED')
  assert.equal((await app.inject({ method: 'DELETE', url: '/v1/admin/api-keys/key_999', headers })).statusCode, 404)
})

test('the last admin key cannot be revoked, also not by two who revoke each other at once', async (t) => {
  const { app, key, db } = await testApp(t)
  const [one, two] = [await key('admin'), await key('admin')]
  const revoke = (by: { authorization: string }, id: string) =>
    app.inject({ method: 'DELETE', url: `/v1/admin/api-keys/key_${id}`, headers: { authorization: by.authorization } })
  const replies = await Promise.all([revoke(one, two.keyId), revoke(two, one.keyId)])
  // The second finds itself the last one, or itself revoked already.
  const [first, second] = replies.map((reply) => reply.statusCode).sort()
  assert.ok(first === 204 && (second === 409 || second === 401), `${first} ${second}`)
  const left = await db.sql`select id from api_keys where 'admin' = any (roles) and revoked_at is null`
  assert.equal(left.count, 1)
  const survivor = left[0]?.id === Number(one.keyId) ? one : two
  const alone = await revoke(survivor, survivor.keyId)
  assert.deepEqual([alone.statusCode, alone.json().code], [409, 'LAST_ADMIN_KEY'])
})

test('the worklist shows what is open until somebody resolves it, and keeps who did', async (t) => {
  const { app, key, db } = await testApp(t)
  const headers = { authorization: (await key('admin')).authorization }
  await db.sql`
    insert into worklist (inventory_id, kind, facts, created_at)
    select 1, 'AMOUNT_DIFFERS', jsonb_build_object('n', n), holdfast_now() from generate_series(1, 3) n`
  const open = (await app.inject({ url: '/v1/admin/worklist?status=OPEN', headers })).json().items
  assert.deepEqual(
    open.map((item: { facts: { n: number } }) => item.facts.n),
    [3, 2, 1],
  )
  const resolve = (id: string) => app.inject({ method: 'POST', url: `/v1/admin/worklist/${id}/resolve`, headers })
  const first = await resolve(open[0].id)
  assert.deepEqual([first.statusCode, first.json().status], [200, 'RESOLVED'])
  assert.match(first.json().resolvedBy, /^key_\d+ admin$/)
  assert.equal((await resolve(open[0].id)).json().resolvedAt, first.json().resolvedAt)
  assert.equal((await resolve('work_999')).statusCode, 404)
  const left = (await app.inject({ url: '/v1/admin/worklist?status=OPEN&limit=1', headers })).json()
  assert.deepEqual([left.items.length, left.nextCursor], [1, open[1].id])
  const done = (await app.inject({ url: '/v1/admin/worklist?status=RESOLVED', headers })).json()
  assert.deepEqual(
    done.items.map((item: { id: string }) => item.id),
    [open[0].id],
  )
})

test('the audit is clean on an empty house, and says which invariant does not hold on a broken one', async (t) => {
  const { app, key, db } = await testApp(t)
  const headers = { authorization: (await key('admin')).authorization }
  const clean = await app.inject({ url: '/v1/admin/audit', headers })
  assert.deepEqual([clean.statusCode, clean.json().status, clean.json().findings], [200, 'CLEAN', []])
  await postgresStore(db.sql).open({ seats: ['A1'] })
  await db.sql`update inventories set version = version + 1`
  const broken = (await app.inject({ url: '/v1/admin/audit', headers })).json()
  assert.equal(broken.status, 'FINDINGS')
  assert.ok(broken.findings.length > 0 && broken.findings[0].rows.length > 0, JSON.stringify(broken))
})
