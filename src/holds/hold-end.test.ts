// How long a hold lives, on a real database: its exact end, more time, and what is given back when it is over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { auth, facts, SEATS, TTL_MS, testTrade } from '#test/http/test-trade.ts'
import { releaseHold } from './release-hold.ts'
import { sweepHolds } from './sweep-holds.ts'

test('B039: swapping seats does not make a hold live longer than its total life', async (t) => {
  const { customer, hold, db } = await testTrade(t, { HOLD_LIFE_MAX_MS: '900000', PAYMENT_SESSION_TTL_MS: '400000' })
  const ann = customer()
  await db.freezeClock('2030-01-01T00:00:00Z')
  await hold(ann, ['F7', 'F8'])
  await db.freezeClock('2030-01-01T00:09:00Z')
  const swapped = (await hold(ann, ['F8', 'F9'])).json()
  assert.equal(swapped.expiresAt, '2030-01-01T00:15:00.000000Z')
  assert.equal(swapped.remainingMs, 360_000)
})

test('the clock frozen exactly at expiresAt: hold, extend, read and release agree that it is over', async (t) => {
  const { customer, hold, read, extend, db, inventoryId, free } = await testTrade(t)
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
  const { customer, hold, extend, db, inventoryId, store } = await testTrade(t)
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
  const { customer, hold, db, inventoryId } = await testTrade(t)
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
  const { customer, hold, db, free, inventoryId, store } = await testTrade(t)
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
  const { customer, hold, db, inventoryId } = await testTrade(t)
  await hold(customer(), ['F7'])
  await db.shiftClock(TTL_MS)
  await db.sql.begin(async (tx) => {
    await tx`select 1 from inventories where id = ${inventoryId} for update`
    assert.equal(await sweepHolds(db.sql), 0)
  })
  assert.equal(await sweepHolds(db.sql), 1)
})
