// Reading bookings: what their owner sees, who does not, and an unpaid one whose hold is over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { HOLD_MS, PRICE_MINOR, testSale } from '#test/sale/test-sale.ts'
import { isReference, newReference } from './reference.ts'

test('a booking shows what was bought, when by the venue’s clock, each attempt to pay, its tickets, and no way to pay it', async (t) => {
  const sale = await testSale(t)
  const { hold, checkout } = await sale.buy(['F7', 'F8'])
  const { authorization } = sale.customer(hold.customerId)
  const reply = await sale.app.inject({ url: `/v1/bookings/${checkout.bookingId}`, headers: { authorization } })
  const booking = reply.json()
  assert.equal(booking.status, 'CONFIRMED')
  assert.equal(booking.reference, checkout.reference)
  assert.deepEqual(
    [booking.sale.title, booking.sale.timeZone, booking.sale.number],
    ['Metropolis', 'Europe/Berlin', sale.inventoryId],
  )
  assert.match(booking.sale.startsLocal, /^\d{4}-\d\d-\d\dT\d\d:\d\d$/)
  assert.deepEqual(
    booking.lines.map(({ line, seat, status }: Record<string, unknown>) => [line, seat, status]),
    [
      [1, 'F7', 'ACTIVE'],
      [2, 'F8', 'ACTIVE'],
    ],
  )
  assert.deepEqual(
    booking.payments.map(({ id, status }: Record<string, unknown>) => [id, status]),
    [[checkout.paymentId, 'CAPTURED']],
  )
  assert.deepEqual(booking.payments[0].captured, { amount: 2 * PRICE_MINOR, currency: 'EUR' })
  assert.equal(booking.tickets.length, 2)
  assert.doesNotMatch(reply.body, /sbx_|sandbox\/pay|ht_/)
})

test('B079: somebody else’s booking and an unknown one are the same 404; its hold’s token, staff and its partner may', async (t) => {
  const sale = await testSale(t)
  const partner = await sale.key('partner')
  const customerId = `partner-${partner.keyId}-ann`
  const { hold, checkout } = await sale.buy(['F7'], { customerId })
  const get = async (headers: Record<string, string>, id = checkout.bookingId, tail = '') => {
    const { requestId: _, ...body } = (await sale.app.inject({ url: `/v1/bookings/${id}${tail}`, headers })).json()
    return body
  }
  const unknown = await get({ authorization: sale.customer().authorization }, `book_1_${'0'.repeat(32)}`)
  assert.equal(unknown.status, 404)
  const admin = await sale.key('admin')
  const may: Record<string, string>[] = [
    { authorization: admin.authorization },
    { 'hold-token': hold.token },
    { authorization: partner.authorization, 'holdfast-customer': 'ann' },
  ]
  for (const headers of may) assert.equal((await get(headers)).status, 'CONFIRMED')
  const other = await sale.key('partner')
  const scanner = await sale.key('scanner')
  const mayNot: Record<string, string>[] = [
    {},
    { authorization: sale.customer().authorization },
    { authorization: partner.authorization, 'holdfast-customer': 'bob' },
    { authorization: other.authorization },
    { authorization: scanner.authorization },
    { 'hold-token': `ht_${'A'.repeat(43)}` },
  ]
  for (const headers of mayNot) {
    for (const tail of ['', '/tickets', '/cancellation'])
      assert.deepEqual(await get(headers, checkout.bookingId, tail), unknown)
    const cancelled = await sale.app.inject({ method: 'DELETE', url: `/v1/bookings/${checkout.bookingId}`, headers })
    assert.equal(cancelled.statusCode, 404)
  }
  for (const id of ['book_1', 'book_x_y', "book_1_'", '1', 'book_99999999999999999999_0'])
    assert.equal((await get({}, id)).status, 404)
})

test('B104: an unpaid booking whose hold is over is EXPIRED everywhere at once, with no worker running', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const checkout = await sale.checkOut(hold)
  const admin = await sale.key('box_office')
  const owner = { authorization: sale.customer(hold.customerId).authorization }
  const status = async (url: string, headers: Record<string, string>) => {
    const body = (await sale.app.inject({ url, headers })).json()
    return body.items ? body.items[0]?.status : body.status
  }
  const all = async () => [
    await status(`/v1/bookings/${checkout.bookingId}`, owner),
    await status('/v1/bookings', owner),
    await status(`/v1/admin/bookings?q=${checkout.reference}`, { authorization: admin.authorization }),
  ]
  const oneBefore = new Date(Date.parse(checkout.expiresAt) - 1).toISOString()
  await sale.db.freezeClock(oneBefore)
  assert.deepEqual(await all(), ['PENDING', 'PENDING', 'PENDING'])
  await sale.db.freezeClock(checkout.expiresAt)
  assert.deepEqual(await all(), ['EXPIRED', 'EXPIRED', 'EXPIRED'])
  assert.equal(await status(`/v1/admin/bookings?status=EXPIRED`, { authorization: admin.authorization }), 'EXPIRED')
  assert.equal(await status(`/v1/admin/bookings?status=PENDING`, { authorization: admin.authorization }), undefined)
  assert.equal(await sale.expire(), 1)
  await sale.work()
  assert.deepEqual(await all(), ['EXPIRED', 'EXPIRED', 'EXPIRED'])
  await assertSoundBooks(sale.sql)
})

test('two workers end what ran out, each booking once', async (t) => {
  const seats = Array.from({ length: 20 }, (_, index) => `A${index}`)
  const sale = await testSale(t, { seats })
  for (const seat of seats) await sale.checkOut(await sale.hold([seat]))
  await sale.db.shiftClock(HOLD_MS + 1)
  const ended = await Promise.all([sale.expire(), sale.expire(), sale.expire()])
  assert.equal(
    ended.reduce((sum, count) => sum + count),
    20,
  )
  await sale.work()
  await assertSoundBooks(sale.sql)
})

test('one’s own bookings, newest first, page by page; nobody’s without a session', async (t) => {
  const sale = await testSale(t)
  const customerId = 'cust_lister'
  const bought: string[] = []
  for (const seat of ['F5', 'F6', 'F7']) bought.unshift((await sale.buy([seat], { customerId })).checkout.bookingId)
  await sale.buy(['F8'])
  const { authorization } = sale.customer(customerId)
  const page = async (query: string) =>
    (await sale.app.inject({ url: `/v1/bookings?${query}`, headers: { authorization } })).json()
  const first = await page('limit=2')
  const second = await page(`limit=2&cursor=${first.nextCursor}`)
  assert.deepEqual(
    [...first.items, ...second.items].map(({ id }: { id: string }) => id),
    bought,
  )
  assert.equal(second.nextCursor, null)
  assert.equal(first.items[0].customerId, undefined)
  assert.equal((await page('cursor=forged')).status, 422)
  assert.equal((await page('limit=0')).status, 422)
  assert.equal((await page('customerId=x')).status, 422)
  assert.equal((await sale.app.inject('/v1/bookings')).statusCode, 401)
})

test('staff find a booking by reference in any case, by address, by part of a name, and wildcards are letters', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const headers = { authorization: sale.customer(hold.customerId).authorization, 'idempotency-key': 'k' }
  const url = `/v1/holds/hold_${sale.inventoryId}_${hold.holdId.replaceAll('-', '')}/checkout`
  const payload = { email: 'Ann@Example.org', name: "Ann O'Neil_100%" }
  const { reference } = (await sale.app.inject({ method: 'POST', url, headers, payload })).json()
  const desk = await sale.key('box_office')
  const find = async (q: string, authorization = desk.authorization) =>
    sale.app.inject({ url: `/v1/admin/bookings?q=${encodeURIComponent(q)}`, headers: { authorization } })
  for (const q of [reference.toLowerCase(), 'ann@example.ORG', "o'neil", '_100%']) {
    assert.deepEqual(
      (await find(q)).json().items.map((item: { reference: string }) => item.reference),
      [reference],
      q,
    )
  }
  for (const q of ['%', 'n_n', 'x']) assert.equal((await find(q)).json().items.length, q === '%' ? 1 : 0, q)
  assert.equal((await find('x', sale.customer().authorization)).statusCode, 403)
  assert.equal((await find('x', (await sale.key('scanner')).authorization)).statusCode, 403)
})

test('a reference has six letters nobody mixes up, and one that is taken is drawn again', async (t) => {
  const sale = await testSale(t)
  const { checkout } = await sale.buy(['F7'])
  assert.ok(isReference(checkout.reference))
  for (const odd of ['ABCDEF', '000000', 'BCDFG', 'bcdfgh', 'BCDFGI']) assert.equal(isReference(odd), false, odd)
  const draws = [checkout.reference, checkout.reference, 'BCDFGH']
  assert.equal(await newReference(sale.sql, () => draws.shift() ?? ''), 'BCDFGH')
})
