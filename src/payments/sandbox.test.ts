// The sandbox's page: for a browser and for a script, inside its session only, and with faults on demand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { SESSION_MS, testSale } from '#test/sale/test-sale.ts'
import type { Checkout } from './start-checkout.ts'

function path({ paymentUrl }: Checkout): string {
  return new URL(paymentUrl ?? '').pathname
}

test('the page says what, how much and until when, without script, and posts to itself', async (t) => {
  const sale = await testSale(t)
  await sale.sql`update inventory_descriptions set title = '<img onerror=alert(1)>'`
  const checkout = await sale.checkOut(await sale.hold(['F7', 'F8']))
  const page = await sale.app.inject(path(checkout))
  assert.equal(page.statusCode, 200)
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'.*form-action 'self'/)
  assert.match(page.body, /<h1>Payment<\/h1>/)
  assert.match(page.body, /24\.00 EUR/)
  assert.match(page.body, /F7, F8/)
  assert.match(page.body, /&lt;img onerror/)
  assert.doesNotMatch(page.body, /<img|<script/)
  const id = path(checkout).split('/').at(-1)
  assert.match(page.body, new RegExp(`action="${id}/pay"`))
  assert.equal((await sale.app.inject('/sandbox/pay/sbx_0')).statusCode, 404)
})

test('a browser is sent back to the page, which then says so; a script gets JSON', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  const browser = await fetch(`${sale.server}${path(checkout)}/pay`, {
    method: 'POST',
    headers: { accept: 'text/html,*/*', 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
  })
  assert.equal(browser.redirected, true)
  assert.equal(new URL(browser.url).pathname, path(checkout))
  const text = await browser.text()
  assert.match(text, /Paid\./)
  assert.doesNotMatch(text, /<button/)
  const script = await fetch(`${sale.server}${path(checkout)}/pay`, { method: 'POST' })
  assert.deepEqual([script.status, ((await script.json()) as { status: string }).status], [200, 'AUTHORISED'])
  await sale.work()
  assert.equal((await sale.sql`select 1 from sandbox_callbacks where body like '%authorised%'`).count, 1)
  await assertSoundBooks(sale.sql)
})

test('paid and declined exclude each other, and nothing is taken at or after the end of the session', async (t) => {
  const sale = await testSale(t)
  const declined = await sale.checkOut(await sale.hold(['F5']))
  assert.deepEqual(
    [await sale.decline(declined), await sale.decline(declined), await sale.pay(declined)],
    [200, 200, 409],
  )
  const paid = await sale.checkOut(await sale.hold(['F6']))
  assert.deepEqual([await sale.pay(paid), await sale.decline(paid)], [200, 409])
  const open = await sale.checkOut(await sale.hold(['F7']))
  await sale.db.freezeClock(open.payBy)
  assert.deepEqual([await sale.pay(open), await sale.decline(open)], [409, 409])
})

test('sixteen clicks at once on pay and decline: one of the two, and one message', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  const clicks = Array.from({ length: 16 }, (_, index) => (index % 2 ? sale.pay(checkout) : sale.decline(checkout)))
  const answers = await Promise.all(clicks)
  assert.equal(answers.filter((status) => status === 200).length, 8)
  assert.equal((await sale.sql`select 1 from sandbox_callbacks`).count, 1)
})

test('faults on demand: forged and unknown change nothing, twice confirms once, never leaves the booking to run out', async (t) => {
  const sale = await testSale(t)
  const faults = ['forged', 'unknown_payment', 'twice', 'never'] as const
  for (const [index, fault] of faults.entries()) {
    const checkout = await sale.checkOut(await sale.hold([`F${index + 5}`]))
    assert.equal(await sale.pay(checkout, { fault }), 200)
  }
  await sale.work()
  const bookings = await sale.sql<{ status: string }[]>`select status from bookings order by created_at`
  assert.deepEqual(
    [...bookings].map(({ status }) => status),
    ['PENDING', 'PENDING', 'CONFIRMED', 'PENDING'],
  )
  await sale.db.shiftClock(SESSION_MS * 2)
  assert.equal(await sale.expire(), 3)
  const bad = await sale.app.inject({
    method: 'POST',
    url: `/sandbox/pay/sbx_${'0'.repeat(32)}/pay`,
    payload: { fault: 'fire' },
  })
  assert.equal(bad.statusCode, 422)
})
