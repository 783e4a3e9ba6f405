// Holding seats through the cinema’s door: every fault of a request before anything else, prices, refusals, repeats.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Reply, smallHouse } from '#test/cinema/small-house.ts'

const told = ({ status, body }: Reply) => [status, body.code]
const codesOf = (body: { seats: { code: string }[] }) => body.seats.map((seat) => seat.code)

test('a hold answers what was held, for how much, until when, and how long that is on the server’s clock', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show({ startsLocal: '2026-12-05T18:45' })
  const { status, body } = await house.post(`/v1/showtimes/${id}/holds`, { seats: ['C4', 'F5'] }, house.customer())
  assert.equal(status, 201)
  const { holdId, holdToken, ...rest } = body
  assert.match(holdId, new RegExp(`^hold_${id.slice(5)}_[0-9a-f]{32}$`))
  assert.match(holdToken, /^ht_/)
  // Weekend: (13.00 + 3.00 + 1.10) + (20.00 + 3.00 + 1.10).
  assert.deepEqual(rest, {
    showtimeId: id,
    seats: ['C4', 'F5'],
    amount: { amount: 4120, currency: 'AUD' },
    expiresAt: '2026-12-01T00:10:00.000000Z',
    remainingMs: 600_000,
  })
})

test('each fault of a request has its own code and names its seats, before limits, prices or the database are asked', async (t) => {
  const house = await smallHouse(t, { HOLD_ATTEMPTS_PER_MINUTE: '1' })
  const id = await house.show()
  const me = house.customer()
  const nine = ['B1', 'B2', 'B3', 'B4', 'B5', 'B6', 'B7', 'B8', 'B9']
  const table: [unknown, number, string, object][] = [
    [{ seats: [] }, 422, 'NO_SEATS', {}],
    [{ bestAvailable: { quantity: 0 } }, 422, 'NO_SEATS', {}],
    [{ seats: ['F5', 'F6', 'F5'] }, 422, 'DUPLICATE_SEAT', { seats: [{ code: 'F5', reason: 'named_twice' }] }],
    [{ seats: ['F5', 'f5'] }, 422, 'UNKNOWN_SEAT', { seats: [{ code: 'f5', reason: 'unknown' }] }],
    [
      { seats: ['Z1', 'F5', ' F6'] },
      422,
      'UNKNOWN_SEAT',
      {
        seats: [
          { code: 'Z1', reason: 'unknown' },
          { code: ' F6', reason: 'unknown' },
        ],
      },
    ],
    [{ seats: nine }, 422, 'TOO_MANY_SEATS', { limit: 8 }],
    [{ bestAvailable: { quantity: 9 } }, 422, 'TOO_MANY_SEATS', { limit: 8 }],
    [{ bestAvailable: { quantity: 2, category: 'THRONE' } }, 422, 'INVALID_REQUEST', {}],
    [{}, 422, 'INVALID_REQUEST', {}],
    [{ seats: ['F5'], bestAvailable: { quantity: 1 } }, 422, 'INVALID_REQUEST', {}],
    [{ seats: ['F5'], amount: 1 }, 422, 'INVALID_REQUEST', {}],
    [{ seats: ['F5'], customerId: 'cust_1' }, 422, 'INVALID_REQUEST', {}],
    [{ seats: 'F5' }, 422, 'INVALID_REQUEST', {}],
    [{ seats: [5] }, 422, 'INVALID_REQUEST', {}],
    [{ seats: [''] }, 422, 'INVALID_REQUEST', {}],
    [{ seats: ['x'.repeat(65)] }, 422, 'INVALID_REQUEST', {}],
    [{ bestAvailable: { quantity: 1.5 } }, 422, 'INVALID_REQUEST', {}],
    [{ bestAvailable: { quantity: -1 } }, 422, 'INVALID_REQUEST', {}],
    [{ bestAvailable: { quantity: '2' } }, 422, 'INVALID_REQUEST', {}],
    [[], 422, 'INVALID_REQUEST', {}],
  ]
  for (const [request, status, code, facts] of table) {
    const answer = await house.post(`/v1/showtimes/${id}/holds`, request, me)
    assert.deepEqual(told(answer), [status, code], JSON.stringify(request))
    for (const [fact, value] of Object.entries(facts))
      assert.deepEqual(answer.body[fact], value, JSON.stringify(request))
  }
  // None of them counted as an attempt.
  assert.equal((await house.post(`/v1/showtimes/${id}/holds`, { seats: ['F5'] }, me)).status, 201)
  assert.deepEqual(told(await house.post(`/v1/showtimes/${id}/holds`, { seats: ['F6'] }, me)), [
    429,
    'TOO_MANY_ATTEMPTS',
  ])
})

test('who is asking comes first, then the showtime, then the seats', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  assert.deepEqual(told(await house.post(`/v1/showtimes/${id}/holds`, { seats: ['Z9'] })), [401, 'UNAUTHENTICATED'])
  const scanner = await house.key('scanner')
  assert.deepEqual(told(await house.post(`/v1/showtimes/${id}/holds`, { seats: ['B1'] }, scanner)), [403, 'FORBIDDEN'])
  for (const unknown of ['show_999', 'show_x', '42', 'hold_1']) {
    assert.deepEqual(told(await house.post(`/v1/showtimes/${unknown}/holds`, { seats: ['Z9'] }, house.customer())), [
      404,
      'NOT_FOUND',
    ])
  }
})

test('a refusal names the seats in the way with the reason of each, and changes nothing', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  await house.post(`/v1/showtimes/${id}/holds`, { seats: ['C1', 'C2'] }, house.customer())
  await house.post(
    `/v1/admin/showtimes/${id}/block`,
    { seats: ['C3'], reason: 'broken' },
    await house.key('box_office'),
  )
  const before = await house.get(`/v1/showtimes/${id}/seats`)
  const refused = await house.post(`/v1/showtimes/${id}/holds`, { seats: ['C2', 'C3', 'C4'] }, house.customer())
  assert.deepEqual(told(refused), [409, 'SEATS_UNAVAILABLE'])
  assert.deepEqual(refused.body.seats, [
    { code: 'C2', reason: 'held' },
    { code: 'C3', reason: 'blocked' },
  ])
  assert.equal((await house.get(`/v1/showtimes/${id}/seats`)).text, before.text)
})

test('two families: one holds F5 to F8, the other is refused F7 and F8 with a hint that they may return', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  assert.equal(
    (await house.post(`/v1/showtimes/${id}/holds`, { seats: ['F5', 'F6', 'F7', 'F8'] }, house.customer())).status,
    201,
  )
  const refused = await house.post(`/v1/showtimes/${id}/holds`, { seats: ['F7', 'F8'] }, house.customer())
  assert.deepEqual(
    [...told(refused), codesOf(refused.body), refused.body.retryable],
    [409, 'SEATS_UNAVAILABLE', ['F7', 'F8'], true],
  )
})

test('B039: asking again for one’s own seats gives the hold one has, with 200 and the end it had; fewer of them replace it', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const me = house.customer()
  const first = await house.post(`/v1/showtimes/${id}/holds`, { seats: ['C1', 'C2'] }, me)
  await house.db.freezeClock('2026-12-01T00:03:00Z')
  const again = await house.post(`/v1/showtimes/${id}/holds`, { seats: ['C2', 'C1'] }, me)
  assert.equal(again.status, 200)
  assert.deepEqual(
    [again.body.holdId, again.body.holdToken, again.body.expiresAt, again.body.remainingMs],
    [first.body.holdId, first.body.holdToken, first.body.expiresAt, 420_000],
  )
  const fewer = await house.post(`/v1/showtimes/${id}/holds`, { seats: ['C1'] }, me)
  assert.equal(fewer.status, 201)
  const map = await house.get(`/v1/showtimes/${id}/seats?view=status`, me)
  assert.deepEqual(map.body.mine, ['C1'])
  assert.equal(map.body.statuses.replaceAll('A', ''), 'H')
})

test('rule 8: the same Idempotency-Key gives the stored answer with the token in it, another body is refused', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const me = { ...house.customer(), 'idempotency-key': 'try-1' }
  const first = await house.post(`/v1/showtimes/${id}/holds`, { bestAvailable: { quantity: 2 } }, me)
  const again = await house.post(`/v1/showtimes/${id}/holds`, { bestAvailable: { quantity: 2 } }, me)
  assert.deepEqual([again.status, again.body, again.headers['idempotent-replayed']], [201, first.body, 'true'])
  assert.deepEqual(told(await house.post(`/v1/showtimes/${id}/holds`, { seats: ['B1'] }, me)), [
    422,
    'IDEMPOTENCY_KEY_REUSED',
  ])
  const [stored] = await house.db.sql`select reply_body::text as text from idempotency_keys`
  assert.ok(!String(stored?.text).includes(first.body.holdToken), 'the token is not stored')
})

test('B053: a price changed while somebody holds: theirs stays, new holds cost the new one', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const me = house.customer()
  const before = await house.post(`/v1/showtimes/${id}/holds`, { seats: ['B1'] }, me)
  const rules = ['CLASSIC', 'RECLINER'].map((category) => ({
    strategy: 'base_price',
    label: category,
    terms: { category, amountMinor: 1400 },
  }))
  const url = `/v1/admin/price-lists/prices_${house.priceListId}`
  const admin = await house.key('admin')
  assert.equal(
    (await house.app.inject({ method: 'PUT', url, headers: admin, payload: { taxBasisPoints: 1000, rules } }))
      .statusCode,
    200,
  )
  assert.equal((await house.get(`/v1/holds/${before.body.holdId}`, me)).body.amount.amount, 1410)
  assert.equal(
    (await house.post(`/v1/showtimes/${id}/holds`, { seats: ['B1'] }, me)).body.amount.amount,
    1410,
    'held again: as frozen',
  )
  assert.equal(
    (await house.post(`/v1/showtimes/${id}/holds`, { seats: ['B2'] }, house.customer())).body.amount.amount,
    1400,
  )
})
