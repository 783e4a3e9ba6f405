// Messages of the provider against a listening server: twice, late, out of order, forged, about something else. Nothing sells twice, no money stays.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { type TestSale, testSale } from '#test/sale/test-sale.ts'
import { outcomes, settled, statuses } from '#test/sale/what-happened.ts'
import type { Checkout } from './start-checkout.ts'

test('B025: the identical success 50 times at once: all 200, one confirmation, one ticket set, one capture', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7', 'F8']))
  await sale.pay(checkout, { fault: 'never' })
  const message = await sale.message('authorised', checkout)
  const answers = await Promise.all(Array.from({ length: 50 }, () => sale.send(message, 'evt_same')))
  assert.deepEqual(new Set(answers), new Set([200]))
  await sale.work()
  assert.deepEqual(await settled(sale), ['CAPTURE CONFIRMED DONE'])
  const confirmed = await sale.sql`select 1 from outbox where name = 'BookingConfirmed'`
  assert.equal(confirmed.count, 1)
  await assertSoundBooks(sale.sql)
})

test('trap 11: success again under another event id finds a confirmed booking and changes nothing', async (t) => {
  const sale = await testSale(t)
  const { checkout } = await sale.buy(['F7'])
  const before = await statuses(sale)
  for (let n = 0; n < 3; n++) assert.equal(await sale.send(await sale.message('authorised', checkout)), 200)
  await sale.work()
  assert.deepEqual(await statuses(sale), before)
  await assertSoundBooks(sale.sql)
})

test('success after a recorded failure decides like a first success; failure after a success is old news', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout, { fault: 'never' })
  await sale.send(await sale.message('declined', checkout))
  assert.deepEqual(await statuses(sale), { booking: 'PENDING', payments: ['FAILED'] })
  await sale.send(await sale.message('authorised', checkout))
  assert.deepEqual(await statuses(sale), { booking: 'CONFIRMED', payments: ['AUTHORISED'] })
  await sale.send(await sale.message('declined', checkout))
  assert.deepEqual(await outcomes(sale), ['NOTED', 'CONFIRMED', 'IGNORED'])
  await sale.work()
  await assertSoundBooks(sale.sql)
})

test('captured is heard before authorised: confirmed once, the rest changes nothing', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout, { fault: 'captured', callbackAfterMs: 60_000 })
  await sale.send(await sale.message('captured', checkout))
  await sale.send(await sale.message('authorised', checkout))
  await sale.db.shiftClock(60_000)
  await sale.work()
  assert.deepEqual(await outcomes(sale), ['CONFIRMED', 'IGNORED', 'IGNORED'])
  assert.deepEqual(await statuses(sale), { booking: 'CONFIRMED', payments: ['CAPTURED'] })
  await assertSoundBooks(sale.sql)
})

test('two attempts both succeed: the first one heard pays, the other is let go, the booking stays', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const first = await sale.checkOut(hold)
  await sale.pay(first, { callbackAfterMs: 30_000 })
  // Its decline was only a rumour; the buyer tries again in the same hold.
  await sale.send(await sale.message('declined', first))
  const second = await sale.checkOut(hold)
  assert.notEqual(second.paymentId, first.paymentId)
  await sale.pay(second)
  await sale.work()
  await sale.db.shiftClock(30_000)
  await sale.work()
  assert.deepEqual(await statuses(sale), { booking: 'CONFIRMED', payments: ['VOIDED', 'CAPTURED'] })
  assert.deepEqual(await settled(sale), ['CAPTURE CONFIRMED DONE', 'VOID SURPLUS DONE'])
  await assertSoundBooks(sale.sql)
})

test('the first attempt succeeds while the second page is open: that page is ended and takes no money', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const first = await sale.checkOut(hold)
  await sale.pay(first, { callbackAfterMs: 30_000 })
  await sale.send(await sale.message('declined', first))
  const second = await sale.checkOut(hold)
  await sale.db.shiftClock(30_000)
  await sale.work()
  assert.equal(await sale.pay(second), 409)
  assert.deepEqual(await statuses(sale), { booking: 'CONFIRMED', payments: ['CAPTURED', 'EXPIRED'] })
  await assertSoundBooks(sale.sql)
})

test('B030: amount, currency or payment differ: kept, 200, on the worklist, nothing confirms', async (t) => {
  const sale = await testSale(t, { seats: ['F5', 'F6', 'F7', 'F8', 'F9'] })
  const checkout = await sale.checkOut(await sale.hold(['F7', 'F8']))
  const other = await sale.checkOut(await sale.hold(['F5']))
  const wrong: [string, Parameters<TestSale['message']>[2]][] = [
    ['AMOUNT_MISMATCH', { amount: 24 }],
    ['AMOUNT_MISMATCH', { amount: 2399 }],
    ['AMOUNT_MISMATCH', { amount: 2500 }],
    ['AMOUNT_MISMATCH', { currency: 'USD' }],
    ['PAYMENT_MISMATCH', { merchantReference: other.paymentId }],
    ['PAYMENT_MISMATCH', { payment: 'sbx_of_nobody' }],
    ['UNKNOWN_PAYMENT', { merchantReference: `pay_${sale.inventoryId}_${'0'.repeat(32)}` }],
    ['UNKNOWN_PAYMENT', { merchantReference: `pay_999999_${'0'.repeat(32)}` }],
    ['UNKNOWN_PAYMENT', { merchantReference: "pay_1'; drop table payments; --" }],
    ['UNKNOWN_PAYMENT', { merchantReference: null, payment: 'sbx_of_nobody' }],
  ]
  for (const [kind, change] of wrong) {
    const message = await sale.message('authorised', checkout, change)
    assert.equal(await sale.send(message, `evt_of_${kind}${JSON.stringify(change)}`), 200)
    const [row] = await sale.sql`select kind from worklist order by id desc limit 1`
    assert.equal(row?.kind, kind, JSON.stringify(change))
  }
  assert.equal((await sale.sql`select 1 from worklist`).count, wrong.length)
  const bookings = await sale.sql<{ status: string }[]>`select distinct status from bookings`
  assert.deepEqual(
    [...bookings].map(({ status }) => status),
    ['PENDING'],
  )
})

test('a message without our id is found by the provider’s', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout, { fault: 'never' })
  await sale.send(await sale.message('authorised', checkout, { merchantReference: null }))
  assert.deepEqual(await outcomes(sale), ['CONFIRMED'])
})

test('B045: the provider’s word about our own refund is known; a refund made at the provider is for a person', async (t) => {
  const sale = await testSale(t)
  const { checkout } = await sale.buy(['F7'])
  await sale.send(await sale.message('refunded', checkout, { movement: randomUUID() }))
  await sale.send(await sale.message('voided', checkout, { movement: null }))
  const kinds = await sale.sql<{ kind: string }[]>`select kind from worklist order by id`
  assert.deepEqual(
    [...kinds].map(({ kind }) => kind),
    ['UNKNOWN_REFUND', 'AUTHORISATION_LOST'],
  )
  assert.deepEqual(await statuses(sale), { booking: 'CONFIRMED', payments: ['CAPTURED'] })
})

test('our own work fails: 5xx and nothing kept, and the redelivery is worked anew', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout, { fault: 'never' })
  const message = await sale.message('authorised', checkout)
  // The second guard refuses: somebody booked the seat behind the store's back.
  await sale.sql`insert into booked_seats values (${sale.inventoryId}, 'F7', ${randomUUID()}, now())`
  assert.equal(await sale.send(message, 'evt_1'), 500)
  assert.deepEqual(await outcomes(sale), [])
  assert.deepEqual(await statuses(sale), { booking: 'PENDING', payments: ['CREATED'] })
  await sale.sql`delete from booked_seats`
  assert.equal(await sale.send(message, 'evt_1'), 200)
  await sale.work()
  await assertSoundBooks(sale.sql)
})

test('the sandbox delivers again until it is answered 2xx', async (t) => {
  const sale = await testSale(t)
  const checkout: Checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout)
  await sale.sql`insert into booked_seats values (${sale.inventoryId}, 'F7', ${randomUUID()}, now())`
  assert.equal(await sale.deliver(), 0)
  await sale.sql`delete from booked_seats`
  assert.equal(await sale.deliver(), 0)
  await sale.db.shiftClock(1_000)
  assert.equal(await sale.deliver(), 1)
  await sale.work()
  await assertSoundBooks(sale.sql)
})
