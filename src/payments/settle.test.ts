// Debts of money: a crash, an outage, a no of the provider, many workers. None is lost, none is paid twice, what stays stuck is on the worklist.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { PRICE_MINOR, testSale } from '#test/sale/test-sale.ts'
import { ATTEMPTS_MAX } from './record-settled.ts'
import { settleDueDebts } from './settle-debts.ts'

const HOUR_MS = 3_600_000

test('a crash between decision and call: the row is there, and the next worker moves the money once', async (t) => {
  const sale = await testSale(t)
  await sale.pay(await sale.checkOut(await sale.hold(['F7'])))
  await sale.deliver()
  let calls = 0
  // The worker dies while it calls, after the money was moved: nothing after that is ever written.
  const dying = sale.withProvider((sandbox) => ({
    async capture(order) {
      calls += 1
      await sandbox.capture(order)
      return new Promise(() => {})
    },
  }))
  void settleDueDebts(dying).catch(() => {})
  for (let waited = 0; calls === 0 && waited < 200; waited++) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(calls, 1)
  const [debt] = await sale.sql`select status, attempts from settlements`
  assert.deepEqual({ ...debt }, { status: 'DUE', attempts: 1 })
  assert.equal(await sale.settle(), 0, 'another worker waits for the lease')
  await sale.db.shiftClock(120_000)
  assert.equal(await sale.settle(), 1)
  await sale.work()
  const [moved] = await sale.sql`select count(*)::int as count from sandbox_movements`
  assert.equal(moved?.count, 1)
  await assertSoundBooks(sale.sql)
})

test('eight workers at once on forty debts: each moved once', async (t) => {
  const seats = Array.from({ length: 40 }, (_, index) => `A${index + 1}`)
  const sale = await testSale(t, { seats })
  for (const seat of seats) await sale.pay(await sale.checkOut(await sale.hold([seat])))
  await sale.deliver()
  const calls = new Map<string, number>()
  const parts = sale.withProvider((sandbox) => ({
    capture(order) {
      calls.set(order.idempotencyKey, (calls.get(order.idempotencyKey) ?? 0) + 1)
      return sandbox.capture(order)
    },
  }))
  const settled = await Promise.all(Array.from({ length: 8 }, () => settleDueDebts(parts)))
  assert.equal(
    settled.reduce((sum, count) => sum + count),
    40,
  )
  assert.deepEqual([...calls.values()], new Array(40).fill(1))
  await sale.work()
  await assertSoundBooks(sale.sql)
})

test('the provider errs twice, also after it moved the money: tried later with the same key, recorded once', async (t) => {
  const sale = await testSale(t)
  await sale.pay(await sale.checkOut(await sale.hold(['F7'])))
  await sale.deliver()
  const keys: string[] = []
  const parts = sale.withProvider((sandbox) => ({
    async capture(order) {
      keys.push(order.idempotencyKey)
      if (keys.length === 1) throw new Error('500')
      const outcome = await sandbox.capture(order)
      if (keys.length === 2) throw new Error('the answer was lost')
      return outcome
    },
  }))
  for (const shiftMs of [0, 10_000, 20_000]) {
    await sale.db.shiftClock(shiftMs)
    await settleDueDebts(parts)
  }
  assert.equal(keys.length, 3)
  assert.equal(new Set(keys).size, 1)
  await sale.work()
  await assertSoundBooks(sale.sql)
})

test('the provider’s message about our capture comes before its answer: captured once, told once', async (t) => {
  const sale = await testSale(t)
  await sale.pay(await sale.checkOut(await sale.hold(['F7'])))
  await sale.deliver()
  const parts = sale.withProvider((sandbox) => ({
    async capture(order) {
      const outcome = await sandbox.capture(order)
      await sale.deliver()
      return outcome
    },
  }))
  await settleDueDebts(parts)
  await sale.work()
  const [told] = await sale.sql`select count(*)::int as count from outbox where name = 'PaymentCaptured'`
  assert.equal(told?.count, 1)
  await assertSoundBooks(sale.sql)
})

test('trap 15: a refund that never works is given up after an hour, kept, and on the worklist once', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout, { fault: 'captured', callbackAfterMs: HOUR_MS })
  await sale.db.shiftClock(HOUR_MS)
  await sale.deliver()
  const parts = sale.withProvider(() => ({ refund: () => Promise.reject(new Error('ECONNREFUSED')) }))
  for (let hours = 1; hours <= ATTEMPTS_MAX + 2; hours++) {
    await sale.db.shiftClock(hours * HOUR_MS)
    await settleDueDebts(parts)
  }
  const debts = await sale.sql`select status, attempts, last_error from settlements`
  assert.deepEqual(
    [...debts].map((row) => ({ ...row })),
    [{ status: 'STUCK', attempts: ATTEMPTS_MAX, lastError: 'ECONNREFUSED' }],
  )
  const worklist = await sale.sql<
    { kind: string; facts: { amountMinor: number; paymentId: string } }[]
  >`select kind, facts from worklist`
  assert.equal(worklist.length, 1)
  assert.deepEqual([worklist[0]?.kind, worklist[0]?.facts.amountMinor], ['SETTLEMENT_STUCK', PRICE_MINOR])
  assert.equal(worklist[0]?.facts.paymentId, checkout.paymentId)
})

test('the provider says no to a capture: stuck at once, with its reason; the others go on', async (t) => {
  const sale = await testSale(t)
  for (const seat of ['F5', 'F6']) await sale.pay(await sale.checkOut(await sale.hold([seat])))
  await sale.deliver()
  await sale.sql`update sandbox_payments set status = 'VOIDED' where id = (select min(id) from sandbox_payments)`
  assert.equal(await sale.settle(), 1)
  const debts = await sale.sql`select status, last_error from settlements order by status`
  assert.deepEqual(
    [...debts].map((row) => ({ ...row })),
    [
      { status: 'DONE', lastError: null },
      { status: 'STUCK', lastError: 'the payment is VOIDED' },
    ],
  )
})

test('the provider takes what was to be let go: the void gives way to a refund', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F7']))
  await sale.pay(checkout, { callbackAfterMs: HOUR_MS })
  await sale.db.shiftClock(HOUR_MS)
  await sale.deliver()
  const [sandbox] = sale.parts.providers
  const [payment] = await sale.sql<{ id: string }[]>`select id from sandbox_payments`
  const taken = {
    providerPaymentId: payment?.id ?? '',
    amountMinor: PRICE_MINOR,
    currency: 'EUR',
    idempotencyKey: 'on its own',
  }
  assert.equal((await sandbox.capture(taken)).outcome, 'DONE')
  await sale.work()
  const kinds = await sale.sql<
    { text: string }[]
  >`select kind || ' ' || status as text from settlements where reason = 'LATE' order by created_at`
  assert.deepEqual(
    [...kinds].map(({ text }) => text),
    ['VOID DROPPED', 'REFUND DONE'],
  )
  await assertSoundBooks(sale.sql)
})
