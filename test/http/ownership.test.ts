// SA1, B079: what belongs to another customer does not exist, on every route and method, whoever asks and with whatever proof of something else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { smallHouse } from '#test/cinema/small-house.ts'
import { checkOut, runSale, sell } from './sell.ts'

const GUARDED = ['/v1/holds/:id', '/v1/bookings/:id', '/v1/tickets/:id']

test('another customer’s hold, booking and ticket are 404 on every route and method, with the answer an unknown id gets', async (t) => {
  const house = await smallHouse(t)
  await runSale(t, house)
  const show = await house.show()
  const owner = house.customer().authorization
  const sold = await sell(house, show, ['F5', 'F6'], owner)
  const pending = await checkOut(house, show, ['B1'], owner)
  const held = (await house.post(`/v1/showtimes/${show}/holds`, { seats: ['C1'] }, { authorization: owner })).body

  const mallory = house.customer().authorization
  const own = (await house.post(`/v1/showtimes/${show}/holds`, { seats: ['D1'] }, { authorization: mallory })).body
  const [partner, scanner] = [await house.key('partner'), await house.key('scanner')]
  const strangers: Record<string, Record<string, string>> = {
    'another customer': { authorization: mallory },
    nobody: {},
    'the token of another hold': { 'hold-token': own.holdToken },
    'another customer with that token': { authorization: mallory, 'hold-token': own.holdToken },
    'a token of the right shape': { 'hold-token': `ht_${'A'.repeat(43)}` },
    'a partner': { authorization: partner.authorization },
    'a partner for a customer': { authorization: partner.authorization, 'holdfast-customer': 'ann' },
    'a scanner': { authorization: scanner.authorization },
  }
  const ids = {
    '/v1/holds/:id': [held.holdId, pending.holdId, sold.holdId],
    '/v1/bookings/:id': [pending.bookingId, sold.bookingId],
    '/v1/tickets/:id': [sold.ticketId],
  }
  const before = await contents()
  let tried = 0
  for (const { method, url } of house.app.routeList) {
    const guarded = GUARDED.find((prefix) => url === prefix || url.startsWith(`${prefix}/`)) as
      | keyof typeof ids
      | undefined
    if (!guarded) continue
    for (const id of ids[guarded]) {
      const unknown = await ask(method, url, id.replace(/[0-9a-f]{32}$/, '0'.repeat(32)), { authorization: mallory })
      assert.equal(unknown.statusCode, 404, `${method} ${url}`)
      for (const [who, headers] of Object.entries(strangers)) {
        const reply = await ask(method, url, id, headers)
        assert.equal(reply.statusCode, 404, `${who}: ${method} ${url} ${reply.body}`)
        assert.equal(withoutRequestId(reply.body), withoutRequestId(unknown.body), `${who}: ${method} ${url}`)
        tried += 1
      }
    }
  }
  assert.ok(tried >= 150, `only ${tried} attempts`)
  assert.deepEqual(await contents(), before)

  // The doors do open: for the owner, for the hold's token, for the box office.
  const desk = (await house.key('box_office')).authorization
  const welcome: Record<string, string>[] = [
    { authorization: owner },
    { 'hold-token': sold.holdToken },
    { authorization: desk },
  ]
  for (const headers of welcome) {
    for (const { method, url } of house.app.routeList) {
      const guarded = GUARDED.find((prefix) => url === prefix || url.startsWith(`${prefix}/`)) as
        | keyof typeof ids
        | undefined
      if (!guarded || method !== 'GET') continue
      const reply = await ask(method, url, ids[guarded].at(-1) ?? '', headers)
      assert.equal(reply.statusCode, 200, `${method} ${url} ${reply.body}`)
    }
  }

  function ask(method: string, url: string, id: string, headers: Record<string, string>) {
    const writes = method !== 'GET' && method !== 'HEAD'
    return house.app.inject({
      method: method as InjectOptions['method'] & string,
      url: url.replace(':id', id),
      headers: { ...headers, ...(writes ? { 'idempotency-key': `k-${method}-${url.length}-${id.slice(-6)}` } : {}) },
    } as InjectOptions)
  }

  async function contents(): Promise<unknown> {
    const [row] = await house.db.sql`
      select (select jsonb_agg(version order by id) from inventories) as versions, (select jsonb_agg(status order by id) from holds) as holds,
        (select jsonb_agg(status order by id) from bookings) as bookings, (select jsonb_agg(status order by id) from payments) as payments,
        (select jsonb_agg(status order by id) from tickets) as tickets, (select count(*)::int from settlements) as settlements`
    return row
  }
})

test('SA5, SA7: lists show one’s own only, and the seat map shows states, never who', async (t) => {
  const house = await smallHouse(t)
  const show = await house.show()
  const [ann, bob] = [house.customer(), house.customer()]
  const order = await checkOut(house, show, ['F5'], ann.authorization)
  const bobs = await house.get('/v1/bookings', { authorization: bob.authorization })
  assert.deepEqual(bobs.body.items, [])
  const mine = await house.get('/v1/bookings', { authorization: ann.authorization })
  assert.deepEqual(
    mine.body.items.map((item: { id: string }) => item.id),
    [order.bookingId],
  )
  for (const view of ['full', 'status']) {
    const { text } = await house.get(`/v1/showtimes/${show}/seats?view=${view}`, { authorization: bob.authorization })
    for (const secret of [ann.customerId, order.holdId, order.bookingId, order.holdToken, 'buyer@example.com'])
      assert.equal(text.includes(secret), false, `${view} shows ${secret}`)
  }
})

test('41: what is personal is never kept by a cache', async (t) => {
  const house = await smallHouse(t)
  const show = await house.show()
  const { authorization } = house.customer()
  const order = await checkOut(house, show, ['F5'], authorization)
  for (const url of [
    `/v1/holds/${order.holdId}`,
    `/v1/bookings/${order.bookingId}`,
    '/v1/bookings',
    `/v1/bookings/${order.bookingId}/tickets`,
  ]) {
    const { headers } = await house.get(url, { authorization })
    assert.equal(headers['cache-control'], 'no-store', url)
  }
  const map = await house.get(`/v1/showtimes/${show}/seats`, { authorization })
  assert.match(String(map.headers['cache-control']), /private/)
})

function withoutRequestId(body: string): string {
  return body.replace(/"requestId":"[^"]*"/, '')
}
