// Holds through the door, on a real database: repeats, limits, ownership, the exact end, and what is given back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import type { Parts } from '#app.ts'
import { type App, closed } from '#core/http.ts'
import { parseSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { isStaff, requireCustomer } from '#identity/caller.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { type TestApp, testApp } from '#test/http/test-app.ts'
import { createAttemptLimit } from './limit-attempts.ts'
import { type PlacedHold, placeHold } from './place-hold.ts'
import { releaseHold } from './release-hold.ts'
import { sweepHolds } from './sweep-holds.ts'

const TTL_MS = 600_000
const SEATS = ['F5', 'F6', 'F7', 'F8', 'F9', 'F10', 'F11', 'F12', 'G1', 'G2']

// A trade of the test's own: every seat costs 100.
function tradeRoutes(app: App, parts: Parts): void {
  const attempts = createAttemptLimit(parts.config.holdAttemptsPerMinute, parts.metrics)
  app.post(
    '/hold/:inventory',
    { schema: { body: closed({ seats: Type.Array(Type.String()) }) } },
    async (request, reply) => {
      const customerId = requireCustomer(request)
      attempts.take(request, reply, customerId)
      const seats = (request.body as { seats: string[] }).seats
      return placeHold(parts, {
        inventoryId: Number((request.params as { inventory: string }).inventory),
        customerId,
        seats,
        quote: {
          currency: 'INR',
          totalMinor: 100 * seats.length,
          lines: seats.map((seat) => ({
            seat,
            quantity: 1,
            category: 'CLASSIC',
            amountMinor: 100,
            parts: [{ label: 'Classic', amountMinor: 100 }],
          })),
        },
        unitsMax: isStaff(request.caller) ? null : parts.config.seatsPerCustomerMax,
      })
    },
  )
}

type Headers = { authorization: string }
type Reply = {
  statusCode: number
  json: () => PlacedHold & { code: string; seats: unknown; status: string } & Record<string, unknown>
}

async function start(t: Parameters<typeof testApp>[0], env: Record<string, string> = {}) {
  const server = await testApp(t, env, {}, tradeRoutes)
  const store = postgresStore(server.db.sql)
  const inventoryId = await store.open({ seats: SEATS })
  const { app } = server
  return {
    ...server,
    store,
    inventoryId,
    hold: (who: Headers, seats: string[], id = inventoryId): Promise<Reply> =>
      app.inject({
        method: 'POST',
        url: `/hold/${id}`,
        payload: { seats },
        headers: { authorization: who.authorization },
      }),
    read: (headers: Record<string, string>, holdId: string): Promise<Reply> =>
      app.inject({ url: `/v1/holds/${holdId}`, headers }),
    extend: (headers: Record<string, string>, holdId: string): Promise<Reply> =>
      app.inject({ method: 'POST', url: `/v1/holds/${holdId}/extend`, headers }),
    free: async () => (await store.read(inventoryId))?.seats.filter(({ status }) => status === 'AVAILABLE').length,
  }
}

const auth = ({ authorization }: Headers) => ({ authorization })
const facts = (reply: Reply) => [reply.statusCode, reply.json().code]

test('a hold is read with its frozen price and time, by its customer, its token and staff; to others it is 404', async (t) => {
  const { customer, key, hold, read } = await start(t)
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
  const { customer, hold, store, inventoryId } = await start(t)
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
  const { customer, hold, store } = await start(t)
  const closed = await store.open({ seats: ['A1'], saleClosesAt: '2020-01-01T00:00:00Z' })
  const early = await store.open({ seats: ['A1'], saleOpensAt: '2999-01-01T00:00:00Z' })
  assert.deepEqual(facts(await hold(customer(), ['A1'], closed)), [410, 'SALE_CLOSED'])
  assert.deepEqual(facts(await hold(customer(), ['A1'], early)), [409, 'SALE_NOT_OPEN'])
})

test('B013: the same hold 11 times at once is one hold, eleven equal answers, one token', async (t) => {
  const { customer, hold, free } = await start(t)
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
  const { customer, hold, db } = await start(t)
  const ann = customer()
  await hold(ann, ['F7'])
  await db.sql`update holds set amount_minor = 77`
  assert.deepEqual((await hold(ann, ['F7'])).json().amount, { amount: 77, currency: 'INR' })
})

test('B039, B040: asking again for some of it, or something else, replaces the own hold; never two', async (t) => {
  const { customer, hold, read, free } = await start(t)
  const ann = customer()
  const first = (await hold(ann, ['F7', 'F8'])).json()
  const second = (await hold(ann, ['F8'])).json()
  assert.notEqual(first.holdId, second.holdId)
  assert.equal((await read(auth(ann), first.holdId)).json().status, 'RELEASED')
  assert.equal(await free(), SEATS.length - 1)
  for (let attempt = 0; attempt < 10; attempt++) await hold(ann, [`F${5 + (attempt % 7)}`, `F${6 + (attempt % 7)}`])
  assert.equal(await free(), SEATS.length - 2)
})

test('B039: swapping seats does not make a hold live longer than its total life', async (t) => {
  const { customer, hold, db } = await start(t, { HOLD_LIFE_MAX_MS: '900000', PAYMENT_SESSION_TTL_MS: '400000' })
  const ann = customer()
  await db.freezeClock('2030-01-01T00:00:00Z')
  await hold(ann, ['F7', 'F8'])
  await db.freezeClock('2030-01-01T00:09:00Z')
  const swapped = (await hold(ann, ['F8', 'F9'])).json()
  assert.equal(swapped.expiresAt, '2030-01-01T00:15:00.000000Z')
  assert.equal(swapped.remainingMs, 360_000)
})

test('B010: nine single seats one after another or at once: the ninth is CUSTOMER_SEAT_LIMIT over holds and bookings', async (t) => {
  const { customer, key, hold, store, inventoryId } = await start(t)
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

test('the clock frozen exactly at expiresAt: hold, extend, read and release agree that it is over', async (t) => {
  const { customer, hold, read, extend, db, inventoryId, free } = await start(t)
  const ann = customer()
  const { holdId, expiresAt } = (await hold(ann, ['F7', 'F8'])).json()
  const justBefore = expiresAt.replace(
    /\d{6}Z$/,
    (micros) => `${String(Number.parseInt(micros, 10) - 1).padStart(6, '0')}Z`,
  )
  if (justBefore < expiresAt) {
    await db.freezeClock(justBefore)
    assert.equal((await read(auth(ann), holdId)).json().status, 'HELD')
    assert.equal((await hold(customer(), ['F7'])).statusCode, 409)
  }
  await db.freezeClock(expiresAt)
  const seen = (await read(auth(ann), holdId)).json()
  assert.deepEqual([seen.status, seen.remainingMs], ['EXPIRED', 0])
  assert.equal(await free(), SEATS.length)
  assert.deepEqual(facts(await extend(auth(ann), holdId)), [410, 'HOLD_EXPIRED'])
  const { uuid } = parseSharded('hold', holdId)
  assert.equal(await releaseHold(db.sql, { inventoryId, holdId: uuid }), 'EXPIRED')
  const bobs = await hold(customer(), ['F7'])
  assert.deepEqual([bobs.statusCode, bobs.json().remainingMs], [200, TTL_MS])
})

test('extending: a full hold time from now, once, never a lapsed, released or checked-out one (B041)', async (t) => {
  const { customer, hold, extend, db, inventoryId, store } = await start(t)
  const [ann, bob] = [customer(), customer()]
  await db.freezeClock('2030-01-01T00:00:00Z')
  const { holdId, holdToken } = (await hold(ann, ['F7'])).json()
  await db.freezeClock('2030-01-01T00:05:00Z')
  assert.equal((await extend(auth(bob), holdId)).statusCode, 404)
  const longer = await extend({ 'hold-token': holdToken }, holdId)
  assert.deepEqual(
    [longer.statusCode, longer.json().expiresAt, longer.json().remainingMs],
    [200, '2030-01-01T00:15:00.000000Z', TTL_MS],
  )
  const again = await extend(auth(ann), holdId)
  assert.deepEqual([...facts(again), again.json().limit], [409, 'EXTENSION_LIMIT', 1])
  await db.freezeClock('2030-01-01T00:15:00.100Z')
  assert.deepEqual(facts(await extend(auth(ann), holdId)), [410, 'HOLD_EXPIRED'])

  const next = (await hold(ann, ['F8'])).json()
  const { uuid } = parseSharded('hold', next.holdId)
  await store.checkOut(inventoryId, uuid, 1000)
  assert.deepEqual(facts(await extend(auth(ann), next.holdId)), [409, 'HOLD_CHECKED_OUT'])
  await store.confirm(inventoryId, uuid, crypto.randomUUID())
  assert.deepEqual(facts(await extend(auth(ann), next.holdId)), [409, 'ALREADY_BOOKED'])
  await assert.rejects(
    releaseHold(db.sql, { inventoryId, holdId: uuid }),
    (error) => error instanceof Problem && error.code === 'ALREADY_BOOKED',
  )
})

test('B041: a hold that waited for the lock has its full time from the grant', async (t) => {
  const { customer, hold, db, inventoryId } = await start(t)
  let release = () => {}
  const locked = db.sql.begin(async (tx) => {
    await tx`select 1 from inventories where id = ${inventoryId} for update`
    await new Promise<void>((resolve) => {
      release = resolve
    })
  })
  const placing = hold(customer(), ['F7'])
  await new Promise((resolve) => setTimeout(resolve, 700))
  release()
  await locked
  assert.equal((await placing).json().remainingMs, TTL_MS)
})

test('B035, B037: released or lapsed, everything is back, with every worker stopped; the sweeper only tidies', async (t) => {
  const { customer, hold, db, free, inventoryId, store } = await start(t)
  const first = (await hold(customer(), ['F7', 'F8'])).json()
  const hold1 = { inventoryId, holdId: parseSharded('hold', first.holdId).uuid }
  assert.equal(await releaseHold(db.sql, hold1), 'HELD')
  assert.equal(await releaseHold(db.sql, hold1), 'RELEASED')
  assert.equal(await free(), SEATS.length)

  const held = await Promise.all(['F5', 'F6', 'F7'].map((seat) => hold(customer(), [seat])))
  assert.ok(held.every((reply) => reply.statusCode === 200))
  assert.equal(await sweepHolds(db.sql), 0)
  await db.shiftClock(TTL_MS)
  assert.equal(await free(), SEATS.length)
  const before = (await store.read(inventoryId))?.version ?? 0
  const swept = await Promise.all([sweepHolds(db.sql), sweepHolds(db.sql), sweepHolds(db.sql)])
  assert.equal(
    swept.reduce((sum, count) => sum + count),
    3,
  )
  assert.equal(await sweepHolds(db.sql), 0)
  assert.ok(((await store.read(inventoryId))?.version ?? 0) > before)
  assert.equal(await free(), SEATS.length)
})

test('the sweeper leaves an inventory alone that is locked', async (t) => {
  const { customer, hold, db, inventoryId } = await start(t)
  await hold(customer(), ['F7'])
  await db.shiftClock(TTL_MS)
  await db.sql.begin(async (tx) => {
    await tx`select 1 from inventories where id = ${inventoryId} for update`
    assert.equal(await sweepHolds(db.sql), 0)
  })
  assert.equal(await sweepHolds(db.sql), 1)
})

test('B001: 50 customers, one seat: one hold, 49 SEATS_UNAVAILABLE', async (t) => {
  const { customer, hold, db }: Awaited<ReturnType<typeof start>> & TestApp = await start(t)
  const replies = await Promise.all(Array.from({ length: 50 }, () => hold(customer(), ['F7'])))
  assert.deepEqual(replies.map((reply) => reply.statusCode).sort(), [200, ...Array.from({ length: 49 }, () => 409)])
  assert.equal((await db.sql`select from holds where status = 'HELD'`).count, 1)
})
