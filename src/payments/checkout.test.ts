// From the hold to the payment page, on a real database: repeats, second tries, sessions that fit into their hold, a provider that is away.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { formatSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import {
  CURRENCY,
  HOLD_MS,
  PRICE_MINOR,
  SESSION_MS,
  type TestHold,
  type TestSale,
  testSale,
} from '#test/sale/test-sale.ts'
import { startCheckout } from './start-checkout.ts'

function code(expected: string) {
  return (error: unknown) => error instanceof Problem && error.code === expected
}

function checkOutByDoor(sale: TestSale, hold: TestHold, headers: Record<string, string>, payload: object = {}) {
  const url = `/v1/holds/${formatSharded('hold', hold.inventoryId, hold.holdId)}/checkout`
  return sale.app.inject({ method: 'POST', url, payload, headers })
}

test('a buyer pays: the booking is confirmed, the money captured, each seat has its ticket', async (t) => {
  const sale = await testSale(t)
  const { checkout, bookingId } = await sale.buy(['F5', 'F6'])
  assert.deepEqual(checkout.amount, { amount: 2 * PRICE_MINOR, currency: CURRENCY })
  const [booking] = await sale.sql`select status from bookings`
  const [payment] = await sale.sql`select status, pays, captured_minor from payments`
  assert.equal(booking?.status, 'CONFIRMED')
  assert.deepEqual({ ...payment }, { status: 'CAPTURED', pays: true, capturedMinor: 2 * PRICE_MINOR })
  assert.equal((await sale.seat('F5'))?.bookingId, bookingId)
  const told = await sale.sql`select name from outbox order by seq`
  assert.deepEqual(
    told.map(({ name }) => name),
    ['BookingPending', 'BookingConfirmed', 'PaymentCaptured'],
  )
  await assertSoundBooks(sale.sql)
})

test('the payment session ends before the hold, which is kept once until both fit', async (t) => {
  const sale = await testSale(t)
  const now = Date.parse(await sale.db.freezeClock('2030-01-01T12:00:00.000000Z'))
  const hold = await sale.hold(['F7'])
  await sale.db.freezeClock('2030-01-01T12:09:00.000000Z')
  const checkout = await sale.checkOut(hold)
  assert.equal(Date.parse(checkout.payBy) - now, 540_000 + SESSION_MS)
  assert.equal(Date.parse(checkout.expiresAt) - now, 540_000 + HOLD_MS)
  // A minute before the end of the hold a second attempt gets four fifths of what is left.
  await sale.decline(checkout)
  await sale.deliver()
  await sale.db.freezeClock('2030-01-01T12:18:00.000000Z')
  const second = await sale.checkOut(hold)
  assert.equal(Date.parse(second.payBy) - now, 1_080_000 + 48_000)
  assert.equal(second.expiresAt, checkout.expiresAt)
})

test('a repeat while the session is open is the same booking and the same payment', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const all = await Promise.all(Array.from({ length: 11 }, () => sale.checkOut(hold)))
  assert.equal(new Set(all.map((checkout) => JSON.stringify(checkout))).size, 1)
  const counts = await sale.sql`
    select (select count(*)::int from bookings) as bookings, (select count(*)::int from payments) as payments,
      (select count(*)::int from sandbox_payments) as sessions`
  assert.deepEqual({ ...counts[0] }, { bookings: 1, payments: 1, sessions: 1 })
})

test('B013: the same checkout eleven times at once, with and without its key: one payment, equal answers', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const { authorization } = sale.customer(hold.customerId)
  const missing = await checkOutByDoor(sale, hold, { authorization })
  assert.deepEqual([missing.statusCode, missing.json().code], [400, 'IDEMPOTENCY_KEY_REQUIRED'])
  for (const keys of [() => 'one key', () => randomUUID()].map((make) => Array.from({ length: 11 }, make))) {
    const replies = await Promise.all(
      keys.map((key) => checkOutByDoor(sale, hold, { authorization, 'idempotency-key': key.replace(' ', '-') })),
    )
    assert.deepEqual(new Set(replies.map(({ statusCode }) => statusCode)), new Set([201]))
    assert.equal(new Set(replies.map(({ body }) => body)).size, 1)
  }
  assert.equal((await sale.sql`select 1 from payments`).count, 1)
})

test('B034: declined at minute 3, paid at minute 5: the second attempt confirms, the first has its own FAILED row', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const first = await sale.checkOut(hold)
  await sale.db.shiftClock(180_000)
  assert.equal(await sale.decline(first), 200)
  await sale.work()
  assert.equal((await sale.seat('F7'))?.status, 'HELD')
  await sale.db.shiftClock(300_000)
  const second = await sale.checkOut(hold)
  assert.equal(second.bookingId, first.bookingId)
  assert.notEqual(second.paymentId, first.paymentId)
  assert.equal(second.expiresAt, first.expiresAt)
  await sale.pay(second)
  await sale.work()
  const payments = await sale.sql`select status, pays from payments order by created_at`
  assert.deepEqual(
    [...payments].map((row) => ({ ...row })),
    [
      { status: 'FAILED', pays: false },
      { status: 'CAPTURED', pays: true },
    ],
  )
  await assertSoundBooks(sale.sql)
})

test('an attempt whose session ran out is followed by a new one, and the old page takes no money', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const first = await sale.checkOut(hold)
  await sale.db.shiftClock(SESSION_MS)
  assert.equal(await sale.pay(first), 409)
  const second = await sale.checkOut(hold)
  assert.notEqual(second.paymentId, first.paymentId)
  assert.equal(await sale.pay(second), 200)
  await sale.work()
  assert.equal((await sale.seat('F7'))?.status, 'BOOKED')
  await assertSoundBooks(sale.sql)
})

test('the provider is away: 502, the seats stay held, and the same call works later with the same key', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const keys: string[] = []
  let away = true
  const parts = sale.withProvider((sandbox) => ({
    open(order) {
      keys.push(order.idempotencyKey)
      return away ? Promise.reject(new Error('ECONNREFUSED')) : sandbox.open(order)
    },
  }))
  await assert.rejects(startCheckout(parts, { ...hold, contact: {} }), code('PAYMENT_PROVIDER_UNAVAILABLE'))
  assert.equal((await sale.seat('F7'))?.status, 'HELD')
  away = false
  const checkout = await startCheckout(parts, { ...hold, contact: {} })
  assert.equal(new Set(keys).size, 1)
  await sale.pay(checkout)
  await sale.work()
  assert.equal((await sale.seat('F7'))?.status, 'BOOKED')
  await assertSoundBooks(sale.sql)
})

test('the provider opened the session and its answer was lost: the repeat gets that very session', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const parts = sale.withProvider((sandbox) => ({
    open: (order) => sandbox.open(order).then(() => Promise.reject(new Error('timeout'))),
  }))
  await assert.rejects(startCheckout(parts, { ...hold, contact: {} }), code('PAYMENT_PROVIDER_UNAVAILABLE'))
  await sale.pay(await sale.checkOut(hold))
  await sale.work()
  assert.equal((await sale.sql`select 1 from sandbox_payments`).count, 1)
  await assertSoundBooks(sale.sql)
})

test('given up while the provider was asked: the session it opens is ended, nobody pays', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const { authorization } = sale.customer(hold.customerId)
  const parts = sale.withProvider((sandbox) => ({
    async open(order) {
      const session = await sandbox.open(order)
      const url = `/v1/holds/${formatSharded('hold', hold.inventoryId, hold.holdId)}`
      assert.equal((await sale.app.inject({ method: 'DELETE', url, headers: { authorization } })).statusCode, 204)
      return session
    },
  }))
  await assert.rejects(startCheckout(parts, { ...hold, contact: {} }), code('HOLD_RELEASED'))
  await sale.work()
  const [session] = await sale.sql`select status from sandbox_payments`
  assert.equal(session?.status, 'EXPIRED')
  assert.equal((await sale.seat('F7'))?.status, 'AVAILABLE')
  await assertSoundBooks(sale.sql)
})

test('nothing to pay: confirmed at once, without a provider', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7'], { pricesMinor: [0] }))
  assert.deepEqual([checkout.status, checkout.paymentUrl, checkout.amount.amount], ['CONFIRMED', null, 0])
  await sale.work()
  assert.equal((await sale.sql`select 1 from sandbox_payments`).count, 0)
  await assertSoundBooks(sale.sql)
})

test('a hold that is over, released, sold or somebody else’s is not checked out', async (t) => {
  const sale = await testSale(t)
  const [over, released, sold] = [await sale.hold(['F5']), await sale.hold(['F6']), (await sale.buy(['F7'])).hold]
  await sale.store.release(released.inventoryId, released.holdId)
  await assert.rejects(sale.checkOut(released), code('HOLD_RELEASED'))
  await assert.rejects(sale.checkOut(sold), code('ALREADY_BOOKED'))
  await sale.db.freezeClock((await sale.store.readHold(over.inventoryId, over.holdId))?.expiresAt ?? '')
  await assert.rejects(sale.checkOut(over), code('HOLD_EXPIRED'))

  const stranger = { authorization: sale.customer().authorization, 'idempotency-key': 'k' }
  assert.equal((await checkOutByDoor(sale, sold, stranger)).statusCode, 404)
  const byToken = { 'hold-token': sold.token, 'idempotency-key': 'k' }
  assert.equal((await checkOutByDoor(sale, sold, byToken)).json().code, 'ALREADY_BOOKED')
})

test('a client never sends an amount, and no method that there is not', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const headers = { authorization: sale.customer(hold.customerId).authorization, 'idempotency-key': 'k' }
  for (const payload of [{ amount: 1 }, { price: 1 }, { method: 'gold' }, { email: 'nobody' }, { name: '' }]) {
    const reply = await checkOutByDoor(sale, hold, { ...headers, 'idempotency-key': randomUUID() }, payload)
    assert.deepEqual([reply.statusCode, reply.json().code], [422, 'INVALID_REQUEST'], JSON.stringify(payload))
  }
  const reply = await checkOutByDoor(sale, hold, headers, {
    email: "o'neil+x@exämple.org",
    name: 'Ö',
    method: 'sandbox',
  })
  assert.equal(reply.statusCode, 201)
  assert.match(reply.json().reference, /^[2-9B-DF-HJKMNP-TV-XZ]{6}$/)
})
