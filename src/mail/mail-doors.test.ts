// Asking for the tickets once more, and the mailbox of a development server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUYER, mailSale } from '#test/mail/mail-sale.ts'
import { cancel } from '#test/sale/what-happened.ts'
import { mailboxCarrier } from './mailbox.ts'

test('SB10: three mails an hour for a booking, also when ten are asked for at once by the owner, the box office and a hold token', async (t) => {
  const sale = await mailSale(t)
  const { hold, checkout } = await sale.book(['F7'])
  await sale.sendMails()
  const desk = await sale.key('box_office')
  const ways: Record<string, string>[] = [
    { authorization: sale.customer(hold.customerId).authorization },
    { authorization: desk.authorization },
    { 'hold-token': hold.token },
  ]
  const ask = (headers: Record<string, string> | undefined) =>
    sale.app.inject({ method: 'POST', url: `/v1/bookings/${checkout.bookingId}/mail`, headers: headers ?? {} })
  const replies = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(ways[index % 3])))
  const taken = replies.filter(({ statusCode }) => statusCode === 202)
  assert.equal(taken.length, 3)
  for (const reply of replies.filter(({ statusCode }) => statusCode !== 202)) {
    assert.deepEqual([reply.statusCode, reply.json().code], [429, 'TOO_MANY_ATTEMPTS'])
    assert.ok(Number(reply.headers['retry-after']) > 3_500 && Number(reply.headers['retry-after']) <= 3_600)
  }
  assert.equal(await sale.sendMails(), 3)
  assert.equal(sale.smtp.taken.length, 4)
  await sale.db.shiftClock(3_601_000)
  assert.equal((await ask(ways[0])).statusCode, 202)
})

test('strangers get 404, bookings without tickets or address a reason', async (t) => {
  const sale = await mailSale(t)
  const ask = (id: string, headers: Record<string, string>) =>
    sale.app.inject({ method: 'POST', url: `/v1/bookings/${id}/mail`, headers })
  const { hold, checkout, bookingId } = await sale.book(['F7'])
  const strangers: Record<string, string>[] = [{}, { authorization: sale.customer().authorization }]
  for (const headers of strangers) assert.equal((await ask(checkout.bookingId, headers)).statusCode, 404)
  const silent = await sale.book(['F8'], {})
  assert.equal((await ask(silent.checkout.bookingId, { 'hold-token': silent.hold.token })).json().code, 'NO_ADDRESS')
  await cancel(sale, bookingId)
  assert.equal((await ask(checkout.bookingId, { 'hold-token': hold.token })).json().code, 'NO_TICKETS')
})

test('production without a mail server: nothing is queued, nothing promised, and there is no mailbox', async (t) => {
  const sale = await mailSale(
    t,
    {},
    { SMTP_URL: '', HOLDFAST_MODE: 'production', PUBLIC_URL: 'https://cinema.example', ALLOW_SANDBOX: 'on' },
  )
  const { hold, checkout } = await sale.book(['F7'])
  assert.deepEqual(await sale.mails(), [])
  const headers = { 'hold-token': hold.token }
  const reply = await sale.app.inject({ method: 'POST', url: `/v1/bookings/${checkout.bookingId}/mail`, headers })
  assert.deepEqual([reply.statusCode, reply.json().code], [409, 'MAIL_OFF'])
  assert.equal((await sale.app.inject('/mailbox')).statusCode, 404)
})

test('with a mail server there is no mailbox page', async (t) => {
  const sale = await mailSale(t)
  assert.equal((await sale.app.inject('/mailbox')).statusCode, 404)
})

test('the mailbox shows what would have been sent: as a list, as text, and as its reader sees it, with nothing in it that runs', async (t) => {
  const sale = await mailSale(t, {}, { SMTP_URL: '' })
  const evil = '"><script>alert(1)</script>'
  await sale.sql`update inventory_descriptions set title = ${evil}`
  await sale.book(['F7'], { email: BUYER.email, name: evil })
  assert.equal(await sale.sendMails({ carrier: mailboxCarrier(sale.sql) }), 1)
  assert.equal(sale.smtp.taken.length, 0)
  const list = await sale.app.inject('/mailbox')
  assert.equal(list.statusCode, 200)
  assert.match(list.body, /ann@example\.org/)
  const [, link = ''] = /href="(\/mailbox\/mail_[^"]+)"/.exec(list.body) ?? []
  const text = await sale.app.inject(link)
  assert.match(text.body, /Attached: tickets-[A-Z0-9]{6}\.pdf, \d{4,} bytes/)
  const html = await sale.app.inject(`${link}/html`)
  assert.match(html.body, /src="data:image\/png;base64,/)
  assert.match(String(html.headers['content-security-policy']), /^default-src 'none'.*sandbox$/)
  for (const page of [list, text, html]) {
    assert.match(String(page.headers['content-type']), /^text\/html/)
    assert.doesNotMatch(page.body, /<script/)
    assert.ok(page.headers['content-security-policy'])
  }
  assert.equal((await sale.app.inject('/mailbox/mail_x')).statusCode, 404)
  assert.equal((await sale.app.inject(`/mailbox/mail_${sale.inventoryId}_${'0'.repeat(32)}/html`)).statusCode, 404)
})
