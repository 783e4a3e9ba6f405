// Holds through the door, on a real database: what is answered and refused, repeats, limits, ownership.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSharded } from '#core/ids.ts'
import { auth, facts, SEATS, TTL_MS, testTrade } from '#test/http/test-trade.ts'

test('a hold is read with its frozen price and time, by its customer, its token and staff; to others it is 404', async (t) => {
  const { customer, key, hold, read } = await testTrade(t)
  const [ann, bob] = [customer(), customer()]
  const placed = (await hold(ann, ['F7', 'F8'])).json()
  assert.deepEqual(placed.amount, { amount: 200, currency: 'INR' })
  assert.equal(placed.remainingMs, TTL_MS)
  const seen = (await read(auth(ann), placed.holdId)).json()
  assert.deepEqual(
    [seen.id, seen.status, seen.seats, seen.amount],
    [placed.holdId, 'HELD', ['F7', 'F8'], placed.amount],
  )
  assert.deepEqual((seen.lines as unknown[])[0], {
    seat: 'F7',
    quantity: 1,
    category: 'CLASSIC',
    amount: { amount: 100, currency: 'INR' },
    parts: [{ label: 'Classic', amount: { amount: 100, currency: 'INR' } }],
  })
  const token = { 'hold-token': placed.holdToken }
  assert.equal((await read(token, placed.holdId)).statusCode, 200)
  assert.equal((await read({ authorization: `Bearer ${placed.holdToken}` }, placed.holdId)).statusCode, 200)
  assert.equal((await read(auth(await key('box_office')), placed.holdId)).statusCode, 200)

  const other = (await hold(bob, ['G1'])).json()
  const strangers: Record<string, string>[] = [
    auth(bob),
    {},
    { 'hold-token': other.holdToken },
    auth(await key('scanner')),
    auth(await key('partner')),
  ]
  for (const headers of strangers) assert.deepEqual(facts(await read(headers, placed.holdId)), [404, 'NOT_FOUND'])
  for (const id of [
    'hold_1',
    'hold_0_x',
    `hold_999_${'0'.repeat(32)}`,
    placed.holdId.toUpperCase(),
    `${placed.holdId}0`,
    placed.holdId.replace('hold', 'book'),
  ])
    assert.deepEqual(facts(await read(auth(ann), id)), [404, 'NOT_FOUND'], id)
})

test('a refusal names each seat and why; all held by others says that they may come back', async (t) => {
  const { customer, hold, store, inventoryId } = await testTrade(t)
  await hold(customer(), ['F7', 'F8'])
  await store.block(inventoryId, ['F9'], 'test', 'broken chair')
  const held = (await hold(customer(), ['F6', 'F7', 'F8'])).json()
  assert.equal(held.code, 'SEATS_UNAVAILABLE')
  assert.deepEqual(held.seats, [
    { code: 'F7', reason: 'held' },
    { code: 'F8', reason: 'held' },
  ])
  assert.equal(held.retryable, true)
  const mixed = (await hold(customer(), ['F8', 'F9'])).json()
  assert.deepEqual(
    [mixed.seats, mixed.retryable],
    [
      [
        { code: 'F8', reason: 'held' },
        { code: 'F9', reason: 'blocked' },
      ],
      undefined,
    ],
  )
  const unknown = await hold(customer(), ['Z1', 'Z2'])
  assert.deepEqual(
    [...facts(unknown), unknown.json().seats],
    [422, 'UNKNOWN_SEAT', ['Z1', 'Z2'].map((code) => ({ code, reason: 'unknown' }))],
  )
  assert.deepEqual(facts(await hold(customer(), ['F5'], 999_999)), [404, 'NOT_FOUND'])
})

test('the sale before it opens and after it closes', async (t) => {
  const { customer, hold, store } = await testTrade(t)
  const closed = await store.open({ seats: ['A1'], saleClosesAt: '2020-01-01T00:00:00Z' })
  const early = await store.open({ seats: ['A1'], saleOpensAt: '2999-01-01T00:00:00Z' })
  assert.deepEqual(facts(await hold(customer(), ['A1'], closed)), [410, 'SALE_CLOSED'])
  assert.deepEqual(facts(await hold(customer(), ['A1'], early)), [409, 'SALE_NOT_OPEN'])
})

test('B013: the same hold 11 times at once is one hold, eleven equal answers, one token', async (t) => {
  const { customer, hold, free } = await testTrade(t)
  const ann = customer()
  const replies = await Promise.all(Array.from({ length: 11 }, () => hold(ann, ['F7', 'F8'])))
  assert.deepEqual(new Set(replies.map((reply) => reply.statusCode)), new Set([200]))
  assert.equal(
    new Set(replies.map((reply) => `${reply.json().holdId} ${reply.json().holdToken} ${reply.json().expiresAt}`)).size,
    1,
  )
  assert.equal(replies.filter((reply) => reply.json().repeated).length, 10)
  assert.equal(await free(), SEATS.length - 2)
})

test('a repeat answers the price that was frozen, not a newer one', async (t) => {
  const { customer, hold, db } = await testTrade(t)
  const ann = customer()
  await hold(ann, ['F7'])
  await db.sql`update holds set amount_minor = 77`
  assert.deepEqual((await hold(ann, ['F7'])).json().amount, { amount: 77, currency: 'INR' })
})

test('B039, B040: asking again for some of it, or something else, replaces the own hold; never two', async (t) => {
  const { customer, hold, read, free } = await testTrade(t)
  const ann = customer()
  const first = (await hold(ann, ['F7', 'F8'])).json()
  const second = (await hold(ann, ['F8'])).json()
  assert.notEqual(first.holdId, second.holdId)
  assert.equal((await read(auth(ann), first.holdId)).json().status, 'RELEASED')
  assert.equal(await free(), SEATS.length - 1)
  for (let attempt = 0; attempt < 10; attempt++) await hold(ann, [`F${5 + (attempt % 7)}`, `F${6 + (attempt % 7)}`])
  assert.equal(await free(), SEATS.length - 2)
})

test('B010: nine single seats one after another or at once: the ninth is CUSTOMER_SEAT_LIMIT over holds and bookings', async (t) => {
  const { customer, key, hold, store, inventoryId } = await testTrade(t)
  const ann = customer()
  const confirm = async (seats: string[]) => {
    const { uuid } = parseSharded('hold', (await hold(ann, seats)).json().holdId)
    await store.checkOut(inventoryId, uuid, 1000)
    assert.equal((await store.confirm(inventoryId, uuid, crypto.randomUUID())).outcome, 'BOOKED')
  }
  await confirm(['F5', 'F6', 'F7', 'F8'])
  await confirm(['F9', 'F10', 'F11'])
  const over = await hold(ann, ['F12', 'G1'])
  assert.deepEqual([...facts(over), over.json().limit, over.json().have], [422, 'CUSTOMER_SEAT_LIMIT', 8, 7])
  assert.equal((await hold(ann, ['G1'])).statusCode, 200)
  assert.equal((await hold(await key('box_office'), ['F12', 'G2'])).statusCode, 200)
})

test('B001: 50 customers, one seat: one hold, 49 SEATS_UNAVAILABLE', async (t) => {
  const { customer, hold, db } = await testTrade(t)
  const replies = await Promise.all(Array.from({ length: 50 }, () => hold(customer(), ['F7'])))
  assert.deepEqual(replies.map((reply) => reply.statusCode).sort(), [200, ...Array.from({ length: 49 }, () => 409)])
  assert.equal((await db.sql`select from holds where status = 'HELD'`).count, 1)
})
