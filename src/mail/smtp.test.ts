// Mail servers as they are: away, refusing, slow, breaking off, silent. Nothing is lost, nothing is tried for ever, and no address becomes two.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUYER, mailSale } from '#test/mail/mail-sale.ts'
import { type Mood, toOf } from '#test/support/smtp.ts'
import { MailRefused } from './mail.ts'
import { ATTEMPTS_MAX } from './send-mails.ts'
import { checkAddress } from './smtp-carrier.ts'

const HOUR_MS = 3_600_000

test('B029: the server is away while the money arrives: the booking is sold, the tickets are there, the mail follows when it is back', async (t) => {
  const sale = await mailSale(t)
  await sale.smtp.stop()
  const { bookingId } = await sale.book(['F7'])
  assert.equal(await sale.sendMails(), 0)
  const [booking] = await sale.sql<{ status: string; tickets: number }[]>`
    select b.status, (select count(*)::int from tickets t where t.booking_id = b.id) as tickets from bookings b where id = ${bookingId}`
  assert.deepEqual({ ...booking }, { status: 'CONFIRMED', tickets: 1 })
  assert.equal(await sale.sendMails(), 0)
  const [waiting] = await sale.sql<{ attempts: number; lastError: string }[]>`select attempts, last_error from mails`
  assert.equal(waiting?.attempts, 1)
  assert.match(waiting?.lastError ?? '', /ECONNREFUSED/)
  await sale.smtp.start()
  await sale.db.shiftClock(60_000)
  assert.equal(await sale.sendMails(), 1)
  assert.equal(sale.smtp.taken.length, 1)
})

for (const [name, mood] of Object.entries({
  'a recipient refused for now (greylisting)': { kind: 'refuse', code: 451 },
  'broken off in the middle of the message': { kind: 'breakOff' },
  'so slow that it is given up': { kind: 'slow', ms: 20_000 },
} satisfies Record<string, Mood>)) {
  test(`${name}: tried again, and delivered once`, async (t) => {
    const sale = await mailSale(t)
    await sale.book(['F7'])
    sale.smtp.mood = mood
    assert.equal(await sale.sendMails({ carrier: sale.impatient }), 0)
    assert.deepEqual([sale.smtp.taken.length, await sale.mails()], [0, ['CONFIRMATION DUE']])
    sale.smtp.mood = { kind: 'friendly' }
    await sale.db.shiftClock(60_000)
    assert.equal(await sale.sendMails(), 1)
    assert.equal(sale.smtp.taken.length, 1)
  })
}

test('taken without a word: it is sent again, and both have one Message-ID', async (t) => {
  const sale = await mailSale(t)
  await sale.book(['F7'])
  sale.smtp.mood = { kind: 'silent', ms: 20_000 }
  const began = performance.now()
  assert.equal(await sale.sendMails({ carrier: sale.impatient }), 0)
  assert.ok(performance.now() - began < 15_000, 'it waited for the server instead of its own deadline')
  sale.smtp.mood = { kind: 'friendly' }
  await sale.db.shiftClock(60_000)
  assert.equal(await sale.sendMails(), 1)
  const ids = sale.smtp.taken.map(({ messageId }) => messageId)
  const [mail] = await sale.sql<{ id: string }[]>`select id from mails`
  assert.deepEqual(ids, [`<${mail?.id}@cinema.example>`, `<${mail?.id}@cinema.example>`])
})

test('an address that the server does not know, or that is none, is parked with the reason: no second try, and no address in it', async (t) => {
  const sale = await mailSale(t, { seats: ['F5', 'F6', 'F7', 'F8'] })
  await sale.book(['F7'])
  sale.smtp.mood = { kind: 'refuse', code: 550 }
  await sale.sendMails()
  sale.smtp.mood = { kind: 'friendly' }
  for (const [seat, email] of [
    ['F5', 'ann@localhost'],
    ['F6', 'a,bob@example.org'],
    ['F8', 'ann@exa_mple..org'],
  ] as const)
    await sale.book([seat], { email })
  const { connections } = sale.smtp
  for (const hours of [0, 1, 30]) {
    await sale.db.shiftClock(hours * HOUR_MS)
    await sale.sendMails()
  }
  assert.equal(sale.smtp.connections, connections, 'it was tried again')
  const rows = await sale.sql<
    { status: string; attempts: number; lastError: string }[]
  >`select status, attempts, last_error from mails`
  assert.deepEqual(
    rows.map(({ status, attempts }) => [status, attempts]),
    new Array(4).fill(['PARKED', 1]),
  )
  assert.ok(
    rows.every(({ lastError }) => lastError.length > 5 && !lastError.includes('@')),
    JSON.stringify(rows),
  )
})

test('a server that never comes back: tries ever more rarely, and parks in the end', async (t) => {
  const sale = await mailSale(t)
  await sale.book(['F7'])
  await sale.smtp.stop()
  let aheadMs = 0
  const pauses: number[] = []
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    await sale.sendMails()
    const [mail] = await sale.sql<{ attempts: number; pauseMs: number }[]>`
      select attempts, (extract(epoch from next_attempt_at - holdfast_now()) * 1000)::float8 as pause_ms from mails`
    assert.equal(mail?.attempts, attempt)
    pauses.push(mail?.pauseMs ?? 0)
    aheadMs += (mail?.pauseMs ?? 0) + 1_000
    await sale.db.shiftClock(aheadMs)
  }
  assert.deepEqual(await sale.mails(), ['CONFIRMATION PARKED'])
  const [first = 0, second = 0] = pauses
  assert.ok(second > first * 1.8 && Math.max(...pauses.slice(0, -1)) <= HOUR_MS + 1)
  assert.ok(aheadMs > 24 * HOUR_MS, 'given up within a day')
})

test('two senders and a hundred mails: each is taken once', async (t) => {
  const seats = Array.from({ length: 25 }, (_, index) => `A${index}`)
  const sale = await mailSale(t, { seats })
  await sale.book(seats.slice(0, 1))
  await sale.sql`
    insert into mails (inventory_id, id, booking_id, event_id, kind, next_attempt_at, created_at)
    select inventory_id, gen_random_uuid(), booking_id, gen_random_uuid(), 'CONFIRMATION', created_at, created_at from mails, generate_series(2, 100)`
  const other = sale.db.connect(4)
  const sent = await Promise.all([sale.sendMails(), sale.sendMails({ sql: other }), sale.sendMails()])
  assert.equal(
    sent.reduce((sum, count) => sum + count),
    100,
  )
  assert.equal(new Set(sale.smtp.taken.map(({ messageId }) => messageId)).size, 100)
  assert.equal(sale.smtp.taken.length, 100)
})

test('plus tags, accents, other alphabets and long addresses are delivered as they are', async (t) => {
  const addresses = [
    'ann+holdfast@example.org',
    "o'brien@example.org",
    'ann@bücher.example',
    'анна@пример.example',
    `${'a'.repeat(64)}@example.org`,
    'a@b.co',
  ]
  const seats = addresses.map((_, index) => `A${index}`)
  const sale = await mailSale(t, { seats })
  for (const [index, email] of addresses.entries()) await sale.book([seats[index] ?? ''], { email, name: 'Zoë 二吉' })
  assert.equal(
    await sale.sendMails(),
    addresses.length,
    JSON.stringify([...(await sale.sql`select last_error from mails`)]),
  )
  const received = sale.smtp.taken.flatMap(({ envelopeTo }) => envelopeTo)
  // The server reads what comes as punycode back into letters.
  assert.deepEqual(received.toSorted(), addresses.toSorted())
  assert.ok(sale.smtp.taken.every((mail) => toOf(mail)[0]?.name === 'Zoë 二吉'))
})

test('no name, title or address adds a header, a recipient or markup (SD5, B080)', async (t) => {
  const sale = await mailSale(t)
  const evil = 'A\r\nBcc: victim@example.org\r\n\r\n<svg onload=1>"><a onmouseover=alert(1)>'
  await sale.sql`update inventory_descriptions set title = ${evil}, venue = ${evil}, area = ${evil}`
  await sale.book(['F7'], { email: BUYER.email, name: evil })
  assert.equal(await sale.sendMails(), 1)
  const [mail] = sale.smtp.taken
  assert.deepEqual(mail?.envelopeTo, [BUYER.email])
  assert.equal(mail?.bcc, undefined)
  assert.equal(mail?.headers.has('bcc'), false)
  assert.match(mail?.subject ?? '', /^Your tickets for A Bcc: victim@example\.org <svg onload=1>/)
  assert.equal(toOf(mail as NonNullable<typeof mail>).length, 1)
  const html = String(mail?.html)
  assert.doesNotMatch(html, /<svg|<a onmouseover/)
  assert.match(html, /&lt;svg onload=1&gt;&quot;&gt;&lt;a onmouseover/)
})

test('what is an address', () => {
  for (const good of [
    'a@b.co',
    'ann+x@example.org',
    'ünï@bücher.example',
    "o'neil@sub.example.com",
    'x@xn--bcher-kva.example',
  ])
    assert.equal(checkAddress(good), good)
  for (const bad of [
    '',
    'ann',
    '@example.org',
    'ann@',
    'ann@localhost',
    'a b@example.org',
    'a@b@c.org',
    'a@-b.org',
    'a@b..org',
    'a,b@example.org',
    'a<b>@example.org',
    'a\nb@example.org',
    `${'a'.repeat(65)}@example.org`,
    `a@${'b'.repeat(250)}.org`,
  ])
    assert.throws(() => checkAddress(bad), MailRefused, bad)
})
