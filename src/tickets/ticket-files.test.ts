// The files a booking's owner takes home, by the door: whose they are, what they say, and how they follow what happens to the booking.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSale } from '#test/sale/test-sale.ts'
import { cancel } from '#test/sale/what-happened.ts'
import { openCalendar, openPdf } from '#test/tickets/open-files.ts'

test('a booking’s PDF has a page for each ticket: film, place, local time with its zone, price, reference, and the code in its QR', async (t) => {
  const sale = await testSale(t)
  await sale.sql`update inventory_descriptions set starts_at = '2026-12-24T19:30:00Z', ends_at = '2026-12-24T21:30:00Z'`
  const { hold, checkout, bookingId } = await sale.buy(['F7', 'F8'])
  const url = `/v1/bookings/${checkout.bookingId}/tickets.pdf`
  const reply = await sale.app.inject({ url, headers: { 'hold-token': hold.token } })
  assert.equal(reply.statusCode, 200)
  assert.equal(reply.headers['content-type'], 'application/pdf')
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.equal(reply.headers['content-disposition'], `attachment; filename="tickets-${checkout.reference}.pdf"`)
  const pdf = await openPdf(reply.rawPayload)
  const codes = await sale.sql<
    { code: string }[]
  >`select code from tickets where booking_id = ${bookingId} order by line_no`
  assert.deepEqual(
    pdf.pages.map(({ qr }) => qr),
    [...codes].map(({ code }) => code),
  )
  for (const [index, { text, fonts, roles }] of pdf.pages.entries()) {
    for (const said of [
      'Metropolis',
      'Astor, Screen 1',
      'Thursday, 24 December 2026, 20:30',
      'CET, UTC+01:00 Europe/Berlin',
      `Seat ${['F7', 'F8'][index]}`,
      '12.00 EUR',
      checkout.reference,
    ])
      assert.ok(text.includes(said), `${said} is not in: ${text}`)
    assert.ok(fonts.length >= 2 && fonts.every(({ embedded }) => embedded), JSON.stringify(fonts))
    assert.ok(
      roles.includes('H1') && roles.includes(`Figure: The code that admits one person to seat ${['F7', 'F8'][index]}`),
    )
  }
  assert.deepEqual([pdf.tagged, pdf.language, pdf.title], [true, 'en-GB', `Tickets ${checkout.reference}`])
})

test('B078: the files are their owner’s; for anybody else, and with a guessed id, there is nothing', async (t) => {
  const sale = await testSale(t)
  const { hold, checkout } = await sale.buy(['F7'])
  const get = (ending: string, headers: Record<string, string>, id = checkout.bookingId) =>
    sale.app.inject({ url: `/v1/bookings/${id}/tickets.${ending}`, headers })
  const owner = { authorization: sale.customer(hold.customerId).authorization }
  for (const ending of ['pdf', 'ics']) {
    assert.equal((await get(ending, owner)).statusCode, 200)
    const strangers = [
      await get(ending, {}),
      await get(ending, { authorization: sale.customer().authorization }),
      await get(ending, owner, checkout.bookingId.replace(/[0-9a-f]{32}$/, '0'.repeat(32))),
      await get(ending, owner, 'book_x'),
    ]
    for (const reply of strangers) assert.deepEqual([reply.statusCode, reply.json().code], [404, 'NOT_FOUND'])
  }
})

test('before the payment and after the cancellation there is nothing to print', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7'])
  const pending = await sale.checkOut(hold)
  const get = (ending: string) =>
    sale.app.inject({
      url: `/v1/bookings/${pending.bookingId}/tickets.${ending}`,
      headers: { 'hold-token': hold.token },
    })
  for (const ending of ['pdf', 'ics']) assert.equal((await get(ending)).json().code, 'NO_TICKETS')
  await sale.pay(pending)
  await sale.work()
  for (const ending of ['pdf', 'ics']) assert.equal((await get(ending)).statusCode, 200)
  await sale.app.inject({
    method: 'DELETE',
    url: `/v1/bookings/${pending.bookingId}`,
    headers: { 'hold-token': hold.token },
  })
  assert.deepEqual([(await get('pdf')).statusCode, (await get('pdf')).json().code], [409, 'NO_TICKETS'])
  assert.equal(openCalendar((await get('ics')).body).method, 'CANCEL')
})

test('one calendar entry through all of a booking’s life: same UID, a higher sequence with every change, and none without', async (t) => {
  const sale = await testSale(t)
  await sale.sql`update inventory_descriptions set starts_at = '2026-12-24T19:30:00Z', ends_at = '2026-12-24T21:30:00Z'`
  const { hold, checkout, bookingId } = await sale.buy(['F7', 'F8'])
  const read = async () => {
    const url = `/v1/bookings/${checkout.bookingId}/tickets.ics`
    const reply = await sale.app.inject({ url, headers: { 'hold-token': hold.token } })
    assert.equal(reply.headers['content-type'], 'text/calendar; charset=utf-8')
    assert.equal(reply.headers['cache-control'], 'no-store')
    return reply.body
  }
  const first = await read()
  assert.equal(await read(), first)
  const states = [openCalendar(first)]
  await cancel(sale, bookingId, ['F8'])
  states.push(openCalendar(await read()))
  // A show that is moved.
  await sale.sql`update inventory_descriptions set starts_at = '2026-12-24T20:00:00Z'`
  states.push(openCalendar(await read()))
  await cancel(sale, bookingId)
  states.push(openCalendar(await read()))
  assert.equal(new Set(states.map(({ uid }) => uid)).size, 1)
  assert.deepEqual(
    states.map(({ sequence, method, status, startsAt }) => [sequence, method, status, startsAt]),
    [
      [0, 'PUBLISH', 'CONFIRMED', '2026-12-24T19:30:00.000Z'],
      [1, 'PUBLISH', 'CONFIRMED', '2026-12-24T19:30:00.000Z'],
      [2, 'PUBLISH', 'CONFIRMED', '2026-12-24T20:00:00.000Z'],
      [3, 'CANCEL', 'CANCELLED', '2026-12-24T20:00:00.000Z'],
    ],
  )
  assert.match(states[0]?.description ?? '', /Seats: F7, F8$/)
  assert.match(states[1]?.description ?? '', /Seats: F7$/)
})
