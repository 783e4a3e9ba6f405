// Money that comes when the hold is over: let go or paid back once, whoever has the seats by then.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { HOLD_MS, PRICE_MINOR, testSale } from '#test/sale/test-sale.ts'
import { settled, statuses } from '#test/sale/what-happened.ts'

const LATE_MS = HOLD_MS + 60_000

for (const taken of [true, false]) {
  test(`B028, B043: late money, the seat ${taken ? 'sold on' : 'still free'}: FAILED, let go once, nobody else touched`, async (t) => {
    const sale = await testSale(t)
    const checkout = await sale.checkOut(await sale.hold(['F7']))
    assert.equal(await sale.pay(checkout, { callbackAfterMs: LATE_MS, fault: 'twice' }), 200)
    await sale.db.shiftClock(HOLD_MS)
    const other = taken ? await sale.checkOut(await sale.hold(['F7'])) : null
    await sale.db.shiftClock(LATE_MS + 1_000)
    await sale.deliver()
    assert.equal((await statuses(sale)).booking, 'FAILED')
    await sale.work()
    assert.deepEqual(await settled(sale), ['VOID LATE DONE'])
    const [voids] = await sale.sql`select count(*)::int as count from sandbox_movements where kind = 'VOID'`
    assert.equal(voids?.count, 1)
    const seat = await sale.seat('F7')
    assert.equal(seat?.status, taken ? 'HELD' : 'AVAILABLE')
    if (other) {
      await sale.pay(other)
      await sale.work()
      assert.equal((await sale.seat('F7'))?.status, 'BOOKED')
    }
    await assertSoundBooks(sale.sql)
  })
}

test('late money that was charged at once is refunded once, in full', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7', 'F8']))
  await sale.pay(checkout, { callbackAfterMs: LATE_MS, fault: 'captured' })
  await sale.db.shiftClock(LATE_MS + 1_000)
  await sale.work()
  assert.deepEqual(await settled(sale), ['REFUND LATE DONE'])
  const [sandbox] = await sale.sql`select captured_minor, refunded_minor from sandbox_payments`
  assert.deepEqual({ ...sandbox }, { capturedMinor: 2 * PRICE_MINOR, refundedMinor: 2 * PRICE_MINOR })
  await assertSoundBooks(sale.sql)
})

test('a booking that the worker ended before the late money came stays EXPIRED, one given up stays CANCELLED', async (t) => {
  const sale = await testSale(t)
  const late = await sale.checkOut(await sale.hold(['F7']))
  const abandonedHold = await sale.hold(['F8'])
  const abandoned = await sale.checkOut(abandonedHold)
  await sale.pay(late, { callbackAfterMs: LATE_MS })
  await sale.pay(abandoned, { callbackAfterMs: 1_000 })
  const url = `/v1/holds/hold_${sale.inventoryId}_${abandonedHold.holdId.replaceAll('-', '')}`
  const headers = { 'hold-token': abandonedHold.token }
  assert.equal((await sale.app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
  assert.equal((await sale.app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
  await sale.db.shiftClock(LATE_MS)
  await sale.expire()
  await sale.db.shiftClock(LATE_MS + 1_000)
  await sale.work()
  const bookings = await sale.sql<{ status: string }[]>`select status from bookings order by created_at`
  assert.deepEqual(
    [...bookings].map(({ status }) => status),
    ['EXPIRED', 'CANCELLED'],
  )
  assert.deepEqual((await settled(sale)).sort(), ['VOID LATE DONE', 'VOID LATE DONE'])
  await assertSoundBooks(sale.sql)
})
