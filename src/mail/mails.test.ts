// What buyers are told, by mails that a mail server took: each fact once, with what is true when it is told.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboxEvent } from '#outbox/event.ts'
import { BUYER, FROM, mailSale } from '#test/mail/mail-sale.ts'
import { HOLD_MS } from '#test/sale/test-sale.ts'
import { cancel } from '#test/sale/what-happened.ts'
import { attached, toOf } from '#test/support/smtp.ts'
import { openCalendar, openPdf } from '#test/tickets/open-files.ts'
import { allConsumers } from '../all-workers.ts'

test('a confirmation has the tickets as PDF, as calendar entry and as codes to show, and the time on the clock of the venue', async (t) => {
  const sale = await mailSale(t, {}, { MAIL_LINK: 'https://cinema.example/bookings' })
  await sale.sql`
    update inventory_descriptions set starts_at = '2027-01-15T13:30:00Z', ends_at = '2027-01-15T16:00:00Z', time_zone = 'Asia/Kolkata'`
  const { checkout, bookingId } = await sale.book(['F7', 'F8'])
  assert.equal(await sale.sendMails(), 1)
  assert.deepEqual(await sale.mails(), ['CONFIRMATION SENT'])
  const [mail] = sale.smtp.taken
  assert.ok(mail)
  assert.deepEqual(toOf(mail), [{ address: BUYER.email, name: BUYER.name }])
  assert.deepEqual([mail.envelopeFrom, mail.envelopeTo], [FROM, [BUYER.email]])
  assert.equal(mail.subject, `Your tickets for Metropolis (${checkout.reference})`)
  const html = String(mail.html)
  for (const said of [
    'Metropolis',
    'Astor, Screen 1',
    'Friday, 15 January 2027, 19:00',
    'IST, UTC+05:30 Asia/Kolkata',
    'F7, F8',
    checkout.reference,
    `https://cinema.example/bookings/${checkout.bookingId}`,
  ]) {
    assert.ok(mail.text?.includes(said), `${said}: ${mail.text}`)
    assert.ok(html.includes(said), said)
  }
  const opened = await openPdf(attached(mail, 'pdf').content)
  assert.equal(opened.pages.length, 2)
  const tickets = await sale.sql<
    { code: string }[]
  >`select code from tickets where booking_id = ${bookingId} order by line_no`
  assert.deepEqual(
    opened.pages.map(({ qr }) => qr),
    [...tickets].map(({ code }) => code),
  )
  const entry = openCalendar(attached(mail, 'ics').content.toString())
  assert.deepEqual([entry.startsAt, entry.method], ['2027-01-15T13:30:00.000Z', 'PUBLISH'])
  assert.match(JSON.stringify(attached(mail, 'ics').headers.get('content-type')), /PUBLISH/)
  // mailparser puts the pictures it finds by their cid into the HTML.
  assert.equal(html.match(/src="data:image\/png;base64,/g)?.length, 2)
  assert.doesNotMatch(html, /cid:/)
})

test('however often and however many at once an event comes, it makes one mail', async (t) => {
  const sale = await mailSale(t)
  const { bookingId } = await sale.book(['F7', 'F8'])
  await cancel(sale, bookingId, ['F8'])
  await sale.work()
  await cancel(sale, bookingId)
  await sale.work()
  const events = await sale.sql<
    OutboxEvent[]
  >`select inventory_id, id, booking_id, seq, name, payload, created_at from outbox order by seq`
  const consumers = allConsumers(sale.sql, { ...sale.parts, ticketKey: sale.ticketKey })
  const mail = consumers.find(({ name }) => name === 'mail')
  await Promise.all([...events, ...events, ...events].map((event) => mail?.consume(event)))
  const rows = await sale.sql<{ kind: string }[]>`select kind from mails order by created_at, kind`
  assert.deepEqual(rows.map(({ kind }) => kind).toSorted(), [
    'CANCELLATION',
    'CONFIRMATION',
    'PART_CANCELLATION',
    'REFUND',
    'REFUND',
  ])
})

test('cancelled in part, then whole: what goes, what stays, what comes back, and the calendar follows', async (t) => {
  const sale = await mailSale(t)
  const { bookingId } = await sale.book(['F7', 'F8'])
  await sale.sendMails()
  await cancel(sale, bookingId, ['F8'])
  await sale.work()
  await sale.sendMails()
  await cancel(sale, bookingId)
  await sale.work()
  await sale.sendMails()
  const told = sale.smtp.taken.map(({ subject }) => subject?.replace(/ \(.*/, ''))
  assert.deepEqual(told.toSorted(), [
    'Cancelled: Metropolis',
    'Partly cancelled: Metropolis',
    'Refund for Metropolis',
    'Refund for Metropolis',
    'Your tickets for Metropolis',
  ])
  const find = (subject: RegExp) => sale.smtp.taken.find((mail) => subject.test(mail.subject ?? ''))
  const part = find(/^Partly/)
  assert.match(part?.text ?? '', /Cancelled: F8\..*You get 12\.00 EUR back.*You keep: F7\./s)
  assert.equal((await openPdf(attached(part, 'pdf').content)).pages.length, 1)
  const whole = find(/^Cancelled/)
  assert.match(whole?.text ?? '', /no longer valid.*You get 12\.00 EUR back/s)
  const entries = [find(/^Your tickets/), part, whole].map((mail) =>
    openCalendar(attached(mail, 'ics').content.toString()),
  )
  assert.deepEqual(
    entries.map(({ sequence, method, uid }) => [sequence, method, uid]),
    [0, 1, 2].map((sequence) => [sequence, sequence === 2 ? 'CANCEL' : 'PUBLISH', entries[0]?.uid]),
  )
  assert.match(find(/^Refund/)?.text ?? '', /We have refunded 12\.00 EUR/)
})

test('B097: declined, then given up: one mail that says not booked; paid after a decline: tickets only', async (t) => {
  const sale = await mailSale(t)
  const given = await sale.order(['F5'])
  for (let round = 0; round < 2; round++) {
    await sale.decline(given.checkout)
    await sale.work()
  }
  await sale.sendMails()
  const later = await sale.order(['F6'])
  await sale.decline(later.checkout)
  await sale.work()
  // The mail server is slow today: the second attempt is paid before the mail goes out.
  const again = await sale.app.inject({
    method: 'POST',
    url: `/v1/holds/hold_${sale.inventoryId}_${later.hold.holdId.replaceAll('-', '')}/checkout`,
    headers: { 'hold-token': later.hold.token, 'idempotency-key': 'again' },
    payload: {},
  })
  await sale.pay(again.json())
  await sale.work()
  await sale.sendMails()
  await sale.order(['F7'])
  await sale.db.shiftClock(HOLD_MS + 1_000)
  await sale.work()
  await sale.sendMails()
  assert.deepEqual(
    sale.smtp.taken.map(({ subject }) => subject?.replace(/[:(].*/, '').trim()),
    ['Payment failed, not booked', 'Your tickets for Metropolis'],
  )
  assert.deepEqual((await sale.mails()).toSorted(), [
    'CONFIRMATION SENT',
    'PAYMENT_FAILED SENT',
    'PAYMENT_FAILED SKIPPED',
  ])
})

test('money that came too late: a mail that nothing is booked and nobody charged, and one when what was taken is back', async (t) => {
  const lateMs = HOLD_MS + 60_000
  for (const [how, subjects] of [
    ['reserved', ['Not booked: Metropolis']],
    ['reserved, the booking ended before', ['Not booked: Metropolis']],
    ['captured', ['Not booked: Metropolis', 'Not booked, money returned: Metropolis']],
  ] as const) {
    const sale = await mailSale(t)
    const { checkout } = await sale.order(['F7'])
    await sale.pay(checkout, { callbackAfterMs: lateMs, ...(how === 'captured' ? { fault: 'captured' } : {}) })
    if (how.includes('before')) {
      await sale.db.shiftClock(HOLD_MS + 1_000)
      await sale.work()
    }
    await sale.db.shiftClock(lateMs + 1_000)
    await sale.work()
    await sale.sendMails()
    const told = sale.smtp.taken.map(({ subject }) => subject?.replace(/ \(.*/, ''))
    assert.deepEqual(told.toSorted(), [...subjects].toSorted(), how)
    for (const mail of sale.smtp.taken) {
      assert.deepEqual(mail.attachments, [])
      assert.match(mail.text ?? '', /too late/)
    }
    if (how === 'captured') assert.match(sale.smtp.taken.map(({ text }) => text).join(), /returned 12\.00 EUR in full/)
  }
})

test('trap 42: cancelled before the mail could go out: no tickets are sent, the cancellation is', async (t) => {
  const sale = await mailSale(t)
  const { bookingId } = await sale.book(['F7'])
  await cancel(sale, bookingId)
  await sale.work()
  await sale.sendMails()
  const kinds = (await sale.mails()).toSorted()
  assert.deepEqual(kinds, ['CANCELLATION SENT', 'CONFIRMATION SKIPPED', 'REFUND SENT'])
  assert.ok(
    sale.smtp.taken.every(({ attachments }) =>
      attachments.every(({ contentType }) => contentType !== 'application/pdf'),
    ),
  )
})

test('a mail waits for the tickets it carries, and never goes without', async (t) => {
  const sale = await mailSale(t)
  await sale.book(['F7', 'F8'])
  const [ticket] = await sale.sql<{ id: string }[]>`select id from tickets where seat_code = 'F8'`
  await sale.sql`update tickets set status = 'CANCELLED' where id = ${ticket?.id ?? ''}`
  assert.equal(await sale.sendMails(), 0)
  assert.deepEqual(await sale.mails(), ['CONFIRMATION DUE'])
  await sale.sql`update tickets set status = 'VALID' where id = ${ticket?.id ?? ''}`
  await sale.db.shiftClock(5_000)
  assert.equal(await sale.sendMails(), 1)
})

test('SF3: while a mail server carries them, the mails’ table knows no name and no address; erased before sending, nothing is sent', async (t) => {
  const sale = await mailSale(t)
  const first = await sale.book(['F7'])
  await sale.sendMails()
  await sale.book(['F8'])
  await sale.sql`update bookings set email = null, name = null where id <> ${first.bookingId}`
  await sale.sendMails()
  assert.deepEqual(await sale.mails(), ['CONFIRMATION SENT', 'CONFIRMATION SKIPPED'])
  const [all] = await sale.sql<{ text: string }[]>`select string_agg(m::text, ' ') as text from mails m`
  assert.doesNotMatch(all?.text ?? '', /ann@example|Neill/)
})

test('a booking without an address gets no mail', async (t) => {
  const sale = await mailSale(t)
  await sale.book(['F7'], {})
  assert.deepEqual(await sale.mails(), [])
})
