// Cancelling and refunding: whole, in parts, twice at once. Sums are exact, seats are free, nothing is negative.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refundShares } from '#bookings/quote-cancellation.ts'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { PRICE_MINOR, testSale } from '#test/sale/test-sale.ts'
import { cancel, refunds, refused } from '#test/sale/what-happened.ts'

test('B046, B048: the whole booking goes back: seats free at once, the full price refunded in one call, tickets void', async (t) => {
  const sale = await testSale(t)
  const { bookingId } = await sale.buy(['F5', 'F6', 'F7'])
  assert.deepEqual(await cancel(sale, bookingId), {
    status: 'CANCELLED',
    refundMinor: 3 * PRICE_MINOR,
    currency: 'EUR',
    rule: { percent: 100, untilMinutesBefore: 120 },
  })
  for (const seat of ['F5', 'F6', 'F7']) assert.equal((await sale.seat(seat))?.status, 'AVAILABLE')
  await sale.work()
  assert.deepEqual(await refunds(sale), [3 * PRICE_MINOR])
  const [payment] = await sale.sql`select status from payments`
  assert.equal(payment?.status, 'REFUNDED')
  await assertSoundBooks(sale.sql)
})

test('twice at once, sixteen times: one cancellation, one refund, the same answer', async (t) => {
  const sale = await testSale(t)
  const { bookingId } = await sale.buy(['F7'])
  const answers = await Promise.all(Array.from({ length: 16 }, () => cancel(sale, bookingId)))
  assert.deepEqual(
    new Set(answers.map(({ status, refundMinor }) => `${status} ${refundMinor}`)),
    new Set([`CANCELLED ${PRICE_MINOR}`]),
  )
  await sale.work()
  assert.deepEqual(await refunds(sale), [PRICE_MINOR])
  const [counts] = await sale.sql`select count(*)::int as told from outbox where name = 'BookingCancelled'`
  assert.equal(counts?.told, 1)
  await assertSoundBooks(sale.sql)
})

test('B045: two parallel cancellations that share a line: one goes, the other is refused, never more than was paid', async (t) => {
  const sale = await testSale(t)
  const { bookingId } = await sale.buy(['F5', 'F6', 'F7', 'F8'])
  const results = await Promise.allSettled([cancel(sale, bookingId, [1, 2, 3]), cancel(sale, bookingId, ['F7', 'F8'])])
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await sale.work()
  await assertSoundBooks(sale.sql)
})

test('B050, B052: in parts, by line and by seat: each step exact, together the whole price, the last one ends the booking', async (t) => {
  const sale = await testSale(t, { seats: ['A1', 'A2', 'A3', 'A4', 'A5'] })
  const pricesMinor = [1001, 999, 1, 1500, 700]
  const { bookingId } = await sale.buy(['A1', 'A2', 'A3', 'A4', 'A5'], { pricesMinor })
  assert.equal((await cancel(sale, bookingId, [2, 'A3'])).status, 'CONFIRMED')
  assert.equal((await sale.seat('A2'))?.status, 'AVAILABLE')
  assert.equal((await sale.seat('A1'))?.status, 'BOOKED')
  await assert.rejects(cancel(sale, bookingId, ['A3']), refused({ lines: [3] }))
  await assert.rejects(cancel(sale, bookingId, ['F9']), { code: 'INVALID_REQUEST' })
  await sale.work()
  await assertSoundBooks(sale.sql)
  await cancel(sale, bookingId, ['A5'])
  assert.deepEqual(await cancel(sale, bookingId).then(({ status, refundMinor }) => [status, refundMinor]), [
    'CANCELLED',
    2501,
  ])
  await sale.work()
  assert.deepEqual((await refunds(sale)).sort(), [1000, 2501, 700].sort())
  await assertSoundBooks(sale.sql)
})

test('by the rules frozen at the opening: full until 120 minutes before, half until the start, then none, to the microsecond', async (t) => {
  const sale = await testSale(t, { startsInMinutes: 240 })
  const [row] = await sale.sql<{ startsAt: string; late: string; early: string; last: string }[]>`
    select starts_at, starts_at - interval '120 min' as late, starts_at - interval '120 min 1 us' as early, starts_at - interval '1 us' as last
    from inventory_descriptions`
  assert.ok(row)
  const pricesMinor = [333, 333, 333]
  const { bookingId } = await sale.buy(['F5', 'F6', 'F7'], { pricesMinor })
  await sale.db.freezeClock(row.early)
  assert.equal((await cancel(sale, bookingId, ['F5'])).refundMinor, 333)
  await sale.db.freezeClock(row.late)
  assert.equal((await cancel(sale, bookingId, ['F6'])).refundMinor, 166)
  await sale.db.freezeClock(row.startsAt)
  await assert.rejects(cancel(sale, bookingId), refused({ rule: null }))
  await sale.db.freezeClock(row.last)
  assert.deepEqual(await cancel(sale, bookingId).then(({ refundMinor, rule }) => [refundMinor, rule]), [
    166,
    { percent: 50, untilMinutesBefore: 0 },
  ])
  await sale.work()
  await assertSoundBooks(sale.sql)
})

test('a line gives back the same alone, first, last or with the others: 10,000 random bookings', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state % below
  }
  for (let round = 0; round < 10_000; round++) {
    const lines = Array.from({ length: 1 + random(8) }, (_, index) => ({
      lineNo: index + 1,
      seatCode: `A${index}`,
      poolCode: null,
      quantity: 1,
      category: 'X',
      amountMinor: random(3_000),
      status: 'ACTIVE' as const,
    }))
    const percent = random(101)
    const whole = refundShares(lines, percent)
    const gone = random(lines.length)
    const rest = refundShares(
      lines.map((line, index) => (index === gone ? { ...line, status: 'CANCELLED' as const } : line)),
      percent,
    )
    const sum = (shares: number[]) => shares.reduce((total, share) => total + share, 0)
    const paid = lines.reduce((total, line) => total + line.amountMinor, 0)
    assert.equal(sum(whole), Math.floor((paid * percent) / 100), `seed ${seed}`)
    assert.equal(sum(rest) + (whole[gone] ?? 0), sum(whole), `seed ${seed}`)
    assert.ok(
      whole.every((share, index) => share >= 0 && share <= (lines[index]?.amountMinor ?? 0)),
      `seed ${seed}`,
    )
  }
})

test('units of a pool are lines of their own: each can be cancelled, counters follow', async (t) => {
  const sale = await testSale(t, { pools: [{ code: 'STAND', capacity: 10 }] })
  const { bookingId } = await sale.buy([], { pools: [{ code: 'STAND', quantity: 5 }], pricesMinor: [1003] })
  const lines = await sale.sql<{ amountMinor: number }[]>`select amount_minor from booking_lines order by line_no`
  assert.deepEqual(
    [...lines].map(({ amountMinor }) => amountMinor),
    [201, 201, 201, 200, 200],
  )
  for (const step of [[1, 2], [5], [3, 4]]) {
    await cancel(sale, bookingId, step)
    await sale.work()
    await assertSoundBooks(sale.sql)
  }
  assert.deepEqual((await sale.store.read(sale.inventoryId))?.pools[0]?.sold, 0)
  assert.deepEqual(await refunds(sale), [402, 200, 401])
})

test('no refund rules: never cancellable, and said so beforehand', async (t) => {
  const sale = await testSale(t, { refundRules: [] })
  const { bookingId, checkout, hold } = await sale.buy(['F7'])
  await assert.rejects(cancel(sale, bookingId), refused({ rule: null }))
  const { authorization } = sale.customer(hold.customerId)
  const reply = await sale.app.inject({
    url: `/v1/bookings/${checkout.bookingId}/cancellation`,
    headers: { authorization },
  })
  assert.deepEqual([reply.statusCode, reply.json().code], [409, 'NOT_CANCELLABLE'])
})

test('at the door: the quote, then the act, with lines, with a key, for the owner only', async (t) => {
  const sale = await testSale(t)
  const { checkout, hold } = await sale.buy(['F7', 'F8'])
  const { authorization } = sale.customer(hold.customerId)
  const url = `/v1/bookings/${checkout.bookingId}`
  const quote = (await sale.app.inject({ url: `${url}/cancellation`, headers: { authorization } })).json()
  assert.deepEqual(quote.refund, { amount: 2 * PRICE_MINOR, currency: 'EUR' })
  assert.deepEqual(
    quote.lines.map(({ seat }: { seat: string }) => seat),
    ['F7', 'F8'],
  )
  const act = (headers: Record<string, string>, payload?: object) =>
    sale.app.inject({ method: 'DELETE', url, headers, ...(payload ? { payload } : {}) })
  assert.equal((await act({ authorization: sale.customer().authorization })).statusCode, 404)
  assert.equal((await act({})).statusCode, 404)
  for (const payload of [{ lines: [] }, { lines: [0] }, { lines: [1, 1] }, { amount: 5 }, { lines: ['Z9'] }]) {
    assert.equal((await act({ authorization }, payload)).statusCode, 422, JSON.stringify(payload))
  }
  const keyed = { authorization, 'idempotency-key': 'cancel-1' }
  const first = await act(keyed, { lines: ['F7'] })
  assert.deepEqual(first.json(), {
    id: checkout.bookingId,
    status: 'CONFIRMED',
    refund: { amount: PRICE_MINOR, currency: 'EUR' },
    rule: { percent: 100, untilMinutesBefore: 120 },
  })
  assert.equal((await act(keyed, { lines: ['F7'] })).body, first.body)
  assert.equal((await act({ 'hold-token': hold.token })).json().status, 'CANCELLED')
  await sale.work()
  await assertSoundBooks(sale.sql)
})
