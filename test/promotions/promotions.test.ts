// Promo codes and gift vouchers in a whole sale: shares that sum, refunds that give back what was paid, and the last one won by one buyer only.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { runAudit } from '#admin/run-audit.ts'
import { Problem, type ProblemCode } from '#core/problem.ts'
import { type Checkout, startCheckout } from '#payments/start-checkout.ts'
import { addPromoCode, type NewPromoCode } from '#promotions/add-promo-code.ts'
import { issueGiftVoucher } from '#promotions/gift-voucher.ts'
import { reduceLines } from '#promotions/judge-promotions.ts'
import type { Wishes } from '#promotions/promotion.ts'
import { CURRENCY, PRICE_MINOR, type TestSale, testSale } from '#test/sale/test-sale.ts'

test('a code takes its share off, the voucher pays of what is left, and the buyer pays the rest', async (t) => {
  const sale = await testSale(t)
  await promo(sale, { basisPoints: 1_000 })
  const voucher = await voucherOf(sale, 500)
  const checkout = await buy(sale, ['F5', 'F6'], { promoCode: ' spring ', voucherCode: voucher.toLowerCase() })
  assert.equal(checkout.amount.amount, 2 * PRICE_MINOR - 240 - 500)
  const booking = await read(sale, checkout.bookingId)
  assert.deepEqual(
    [booking.status, booking.promoCode, booking.discount.amount, booking.voucher.amount],
    ['CONFIRMED', 'SPRING', 240, 500],
  )
  assert.deepEqual(
    (booking.lines as { amount: { amount: number } }[]).map(({ amount }) => amount.amount),
    [830, 830],
  )
  await sound(sale)
})

test('the quote says beforehand what the checkout takes, and takes nothing', async (t) => {
  const sale = await testSale(t)
  await promo(sale, { basisPoints: 1_000, usesMax: 1 })
  const hold = await sale.hold(['F5'])
  const quoted = await sale.app.inject({
    method: 'POST',
    url: `/v1/holds/hold_${sale.inventoryId}_${hold.holdId.replaceAll('-', '')}/quote`,
    headers: { 'hold-token': hold.token },
    payload: { promoCode: 'SPRING' },
  })
  assert.equal(quoted.statusCode, 200, quoted.body)
  assert.deepEqual(
    [quoted.json().amount.amount, quoted.json().discount.amount, quoted.json().toPay.amount],
    [PRICE_MINOR, 120, 1_080],
  )
  assert.equal((await checkOut(sale, hold, { promoCode: 'SPRING' })).amount.amount, 1_080)
})

test('a voucher that covers everything: nothing to pay, CONFIRMED at once, and cancelling puts it back', async (t) => {
  const sale = await testSale(t)
  const voucher = await voucherOf(sale, 5_000)
  const checkout = await checkOut(sale, await sale.hold(['F5', 'F6']), { voucherCode: voucher })
  assert.deepEqual([checkout.status, checkout.amount.amount, checkout.paymentUrl], ['CONFIRMED', 0, null])
  await sale.work()
  assert.equal(await balance(sale), 5_000 - 2 * PRICE_MINOR)
  const one = await cancel(sale, checkout.bookingId, ['F5'])
  assert.deepEqual([one.refund.amount, one.voucher.amount], [0, PRICE_MINOR])
  assert.equal(await balance(sale), 5_000 - PRICE_MINOR)
  await cancel(sale, checkout.bookingId)
  assert.equal(await balance(sale), 5_000)
  await sound(sale)
})

test('unpaid, declined or given up: the code can be used again and the voucher is whole', async (t) => {
  const sale = await testSale(t)
  await promo(sale, { basisPoints: 1_000, usesMax: 1 })
  const voucher = await voucherOf(sale, 500)
  const wishes = { promoCode: 'SPRING', voucherCode: voucher }
  const first = await sale.hold(['F5'])
  await checkOut(sale, first, wishes)
  assert.deepEqual([await uses(sale), await balance(sale)], [1, 0])
  await refused('PROMO_CODE_USED_UP', async () => checkOut(sale, await sale.hold(['F6']), wishes))
  await sale.db.shiftClock(3_600_000)
  await sale.work()
  assert.deepEqual([await uses(sale), await balance(sale)], [0, 500])
  await checkOut(sale, await sale.hold(['F7']), wishes)
  await sound(sale)
})

test('codes that do not fit are refused with the reason, and the hold stays as it was', async (t) => {
  const sale = await testSale(t)
  await promo(sale, { code: 'LATER', basisPoints: 500, validFrom: '2099-01-01T00:00:00Z' })
  await promo(sale, { code: 'OVER', basisPoints: 500, validUntil: '2000-01-01T00:00:00Z' })
  await promo(sale, { code: 'OTHER', basisPoints: 500, inventoryIds: [999_999] })
  await promo(sale, { code: 'YEN', amount: { amount: 100, currency: 'JPY' } })
  await promo(sale, { code: 'LARGE', basisPoints: 500, orderMin: { amount: 99_999, currency: CURRENCY } })
  await promo(sale, { code: 'ONCE', basisPoints: 500, usesPerCustomerMax: 1 })
  const customerId = randomUUID()
  await checkOut(sale, await sale.hold(['F5'], { customerId }), { promoCode: 'ONCE' })
  const hold = await sale.hold(['F6'], { customerId: 'somebody' })
  const reasonOf = async (wishes: Wishes) => {
    const problem = await checkOut(sale, hold, wishes).then(
      () => null,
      (error: unknown) => error,
    )
    assert.ok(problem instanceof Problem, String(problem))
    return `${problem.code} ${problem.facts.reason ?? ''}`
  }
  assert.equal(await reasonOf({ promoCode: 'LATER' }), 'PROMO_CODE_INVALID not_yet')
  assert.equal(await reasonOf({ promoCode: 'OVER' }), 'PROMO_CODE_INVALID unknown')
  assert.equal(await reasonOf({ promoCode: 'NEVER' }), 'PROMO_CODE_INVALID unknown')
  assert.equal(await reasonOf({ promoCode: 'OTHER' }), 'PROMO_CODE_INVALID other_show')
  assert.equal(await reasonOf({ promoCode: 'YEN' }), 'PROMO_CODE_INVALID other_currency')
  assert.equal(await reasonOf({ promoCode: 'LARGE' }), 'PROMO_CODE_INVALID order_too_small')
  assert.equal(await reasonOf({ voucherCode: 'GV-NO-SUCH' }), 'VOUCHER_INVALID unknown')
  assert.equal((await sale.store.readHold(sale.inventoryId, hold.holdId))?.status, 'HELD')
  await refused('PROMO_CODE_USED_UP', async () =>
    checkOut(sale, await sale.hold(['F7'], { customerId }), { promoCode: 'ONCE' }),
  )
})

test('C: forty buyers at once for a code of five uses and a voucher of three seats: five and three, never one more', async (t) => {
  const ROUNDS = 3
  const seatsOf = (round: number) => Array.from({ length: 40 }, (_, index) => `R${round}-${index}`)
  const sale = await testSale(t, { seats: Array.from({ length: ROUNDS }, (_, n) => seatsOf(n + 1)).flat() })
  for (let round = 1; round <= ROUNDS; round++) {
    const code = `ROUND-${round}`
    await promo(sale, { code, basisPoints: 1_000, usesMax: 5 })
    const voucher = await voucherOf(sale, 3 * PRICE_MINOR)
    const wishesOf = (index: number): Wishes => (index % 2 ? { promoCode: code } : { voucherCode: voucher })
    const holds = await Promise.all(seatsOf(round).map((seat) => sale.hold([seat])))
    const ends = await Promise.allSettled(holds.map((hold, index) => checkOut(sale, hold, wishesOf(index))))
    const won = ends.flatMap((end, index) => (end.status === 'fulfilled' ? [index % 2] : []))
    assert.deepEqual(
      [won.filter((odd) => odd === 1).length, won.filter((odd) => odd === 0).length],
      [5, 3],
      `round ${round}: ${ends.map((end) => (end.status === 'rejected' ? (end.reason as Problem).code : 'ok')).join(' ')}`,
    )
    await sound(sale)
    await sale.db.shiftClock(round * 3_600_000)
    await sale.work()
  }
  await sound(sale)
})

test('any code and any voucher on any order: shares sum to the whole, no line below zero, never more than the voucher has', () => {
  const code = fc.oneof(
    fc.integer({ min: 1, max: 10_000 }).map((basisPoints) => ({ basisPoints, amountMinor: null })),
    fc.integer({ min: 1, max: 300_000 }).map((amountMinor) => ({ basisPoints: null, amountMinor })),
  )
  const property = fc.property(
    fc.array(fc.nat(100_000), { minLength: 1, maxLength: 8 }),
    code,
    fc.nat(300_000),
    (linesMinor, promo, balanceMinor) => {
      const { discountsMinor, vouchersMinor } = reduceLines(linesMinor, promo, balanceMinor)
      const total = sum(linesMinor)
      const discount = promo.amountMinor ?? Math.floor((total * (promo.basisPoints ?? 0) + 5_000) / 10_000)
      assert.equal(sum(discountsMinor), Math.min(discount, total))
      assert.equal(sum(vouchersMinor), Math.min(balanceMinor, total - sum(discountsMinor)))
      linesMinor.forEach((minor, index) => {
        assert.ok(minor - (discountsMinor[index] ?? 0) - (vouchersMinor[index] ?? 0) >= 0)
      })
    },
  )
  fc.assert(property, { numRuns: 1_000 })
})

test('only administrators make codes; a voucher’s code is told once and never listed', async (t) => {
  const sale = await testSale(t)
  const admin = await sale.key('admin')
  const make = (headers: object, payload: object) =>
    sale.app.inject({ method: 'POST', url: '/v1/admin/promo-codes', headers: { ...headers }, payload })
  const body = { code: 'TEN', label: 'Ten', basisPoints: 1_000 }
  assert.equal((await make(sale.customer(), body)).statusCode, 403)
  assert.equal((await make(admin, body)).statusCode, 201)
  assert.equal((await make(admin, body)).json().code, 'ALREADY_EXISTS')
  assert.equal((await make(admin, { ...body, code: 'BOTH', amount: { amount: 1, currency: 'EUR' } })).statusCode, 422)
  const issued = await sale.app.inject({
    method: 'POST',
    url: '/v1/admin/gift-vouchers',
    headers: { authorization: admin.authorization },
    payload: { amount: { amount: 1_000, currency: 'EUR' } },
  })
  assert.equal(issued.statusCode, 201)
  assert.match(issued.json().code, /^GV(-[A-Z0-9]{4}){4}$/)
  const listed = await sale.app.inject({
    url: '/v1/admin/gift-vouchers',
    headers: { authorization: admin.authorization },
  })
  assert.deepEqual(listed.json().items[0].balance, { amount: 1_000, currency: 'EUR' })
  assert.ok(!listed.body.includes(issued.json().code))
  const dump = await sale.sql`select * from gift_vouchers`
  assert.ok(!JSON.stringify(dump).includes(issued.json().code.replaceAll('-', '')))
})

function sum(amounts: number[]): number {
  return amounts.reduce((total, minor) => total + minor, 0)
}

function promo(sale: TestSale, terms: Partial<NewPromoCode>): Promise<void> {
  return addPromoCode(sale.sql, { code: 'SPRING', label: 'Spring', ...terms })
}

async function voucherOf(sale: TestSale, amountMinor: number): Promise<string> {
  return (await issueGiftVoucher(sale.sql, { amountMinor, currency: CURRENCY, createdBy: 'test' })).code
}

function checkOut(sale: TestSale, hold: { inventoryId: number; holdId: string }, wishes: Wishes): Promise<Checkout> {
  return startCheckout(sale.parts, { ...hold, contact: {}, wishes })
}

async function buy(sale: TestSale, seats: string[], wishes: Wishes): Promise<Checkout> {
  const checkout = await checkOut(sale, await sale.hold(seats), wishes)
  await sale.pay(checkout)
  await sale.work()
  return checkout
}

async function staff(sale: TestSale) {
  const { authorization } = await sale.key('admin')
  return { authorization }
}

async function read(sale: TestSale, bookingId: string) {
  return (await sale.app.inject({ url: `/v1/bookings/${bookingId}`, headers: await staff(sale) })).json()
}

async function cancel(sale: TestSale, bookingId: string, lines?: string[]) {
  const reply = await sale.app.inject({
    method: 'DELETE',
    url: `/v1/bookings/${bookingId}`,
    headers: await staff(sale),
    ...(lines ? { payload: { lines } } : {}),
  })
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json()
}

async function uses(sale: TestSale): Promise<number> {
  const [row] = await sale.sql<{ uses: number }[]>`select uses from promo_codes where code = 'SPRING'`
  return row?.uses ?? -1
}

async function balance(sale: TestSale): Promise<number> {
  const [row] = await sale.sql<{ balanceMinor: number }[]>`select balance_minor from gift_vouchers`
  return row?.balanceMinor ?? -1
}

async function refused(code: ProblemCode, work: () => Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => error instanceof Problem && error.code === code)
}

async function sound(sale: TestSale): Promise<void> {
  await sale.work()
  assert.deepEqual((await runAudit(sale.sql)).findings, [])
}
