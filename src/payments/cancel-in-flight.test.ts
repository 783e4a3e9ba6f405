// Cancelling what is not paid yet, or while the money is on its way: one right end each, nobody charged for nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { HOLD_MS, PRICE_MINOR, testSale } from '#test/sale/test-sale.ts'
import { cancel, refunds, refused } from '#test/sale/what-happened.ts'
import { settleDueDebts } from './settle-debts.ts'

test('before the money was taken: it is let go, nobody is charged', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout)
  await sale.deliver()
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings where status = 'CONFIRMED'`
  assert.equal((await cancel(sale, booking?.id ?? '')).refundMinor, PRICE_MINOR)
  await sale.work()
  const [payment] = await sale.sql`select status, captured_minor from payments`
  assert.deepEqual({ ...payment }, { status: 'VOIDED', capturedMinor: 0 })
  const kinds = await sale.sql<{ kind: string; status: string }[]>`select kind, status from settlements order by kind`
  assert.deepEqual(
    [...kinds].map(({ kind, status }) => `${kind} ${status}`),
    ['CAPTURE DROPPED', 'VOID DONE'],
  )
  await assertSoundBooks(sale.sql)
})

test('while the capture is at the provider: taken first, refunded then, one right end', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout)
  await sale.deliver()
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings where status = 'CONFIRMED'`
  const parts = sale.withProvider((sandbox) => ({
    async capture(order) {
      await cancel(sale, booking?.id ?? '')
      assert.equal(await sale.settle(), 0, 'the refund waits for the capture')
      return sandbox.capture(order)
    },
  }))
  assert.equal(await settleDueDebts(parts), 2)
  await sale.work()
  assert.deepEqual(await refunds(sale), [PRICE_MINOR])
  await assertSoundBooks(sale.sql)
})

test('a part before the money was taken: all of it is taken, the part refunded', async (t) => {
  const sale = await testSale(t)
  await sale.pay(await sale.checkOut(await sale.hold(['F7', 'F8'])))
  await sale.deliver()
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings`
  await cancel(sale, booking?.id ?? '', ['F8'])
  await sale.work()
  const [payment] = await sale.sql`select status, captured_minor, refunded_minor from payments`
  assert.deepEqual({ ...payment }, { status: 'CAPTURED', capturedMinor: 2 * PRICE_MINOR, refundedMinor: PRICE_MINOR })
  await assertSoundBooks(sale.sql)
})

test('B047, B051: an unpaid booking is given up: no fee, no refund, no counter below zero; a second time changes nothing', async (t) => {
  const sale = await testSale(t, { pools: [{ code: 'STAND', capacity: 10 }] })
  const hold = await sale.hold(['F7'], { pools: [{ code: 'STAND', quantity: 3 }] })
  const checkout = await sale.checkOut(hold)
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings`
  await assert.rejects(cancel(sale, booking?.id ?? '', ['F7']), refused({ status: 'PENDING' }))
  for (let n = 0; n < 2; n++) {
    const { status, refundMinor } = await cancel(sale, booking?.id ?? '')
    assert.deepEqual([status, refundMinor], ['CANCELLED', 0])
  }
  const state = await sale.store.read(sale.inventoryId)
  assert.deepEqual(state?.pools, [{ code: 'STAND', capacity: 10, overbookLimit: 0, held: 0, sold: 0 }])
  await sale.work()
  assert.equal(await sale.pay(checkout), 409)
  await assertSoundBooks(sale.sql)
})

test('B047: an unpaid booking whose hold is over is EXPIRED, and cannot be cancelled', async (t) => {
  const sale = await testSale(t)
  await sale.checkOut(await sale.hold(['F7']))
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings`
  await sale.db.shiftClock(HOLD_MS)
  await assert.rejects(cancel(sale, booking?.id ?? ''), refused({ status: 'EXPIRED' }))
  await sale.work()
  await assert.rejects(cancel(sale, booking?.id ?? ''), refused({ status: 'EXPIRED' }))
  await assertSoundBooks(sale.sql)
})

test('cancelled while the buyer pays: the money that comes is let go, the seat stays free', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout)
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings`
  await Promise.all([cancel(sale, booking?.id ?? ''), sale.deliver()])
  await sale.work()
  assert.equal((await sale.seat('F7'))?.status, 'AVAILABLE')
  const [payment] = await sale.sql`select captured_minor - refunded_minor as kept from payments`
  assert.equal(payment?.kept, 0)
  await assertSoundBooks(sale.sql)
})
