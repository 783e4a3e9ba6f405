// What was never heard is asked for, three sides are compared, and every difference has a name, an end, and its share in a sum of zero.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSharded } from '#core/ids.ts'
import { lookUpPending } from '#payments/look-up-payments.ts'
import { reconcile } from '#payments/reconcile.ts'
import { requestReconciliation, runNext } from '#payments/reconciliations.ts'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { PRICE_MINOR, type TestSale, testSale } from '#test/sale/test-sale.ts'
import { cancel, settled, statuses } from '#test/sale/what-happened.ts'

const QUARTER_MS = 900_000
const HOUR_MS = 3_600_000
const ALWAYS = ['2000-01-01T00:00:00Z', '2100-01-01T00:00:00Z'] as const

async function found(sale: TestSale): Promise<string[]> {
  const { differences, totals } = await reconcile(sale.parts, ...ALWAYS)
  for (const { restMinor } of totals) assert.equal(restMinor, 0)
  return differences.map(({ kind, action, amountMinor }) => `${kind} ${action} ${amountMinor}`).sort()
}

test('B027: twenty buyers paid and no message ever came: each is asked about, within its hold confirmed, after it let go', async (t) => {
  const seats = Array.from({ length: 20 }, (_, index) => `S${index + 1}`)
  const sale = await testSale(t, { seats, env: { RECONCILE_PENDING_AFTER_MS: '60000' } })
  for (const [index, seat] of seats.entries()) {
    const fault = index % 4 === 0 ? 'captured' : 'never'
    const checkout = await sale.checkOut(await sale.hold([seat]))
    await sale.pay(checkout, { fault, callbackAfterMs: 70 * HOUR_MS })
  }
  assert.equal(await lookUpPending(sale.parts), 0, 'too young to be asked about')
  await sale.db.shiftClock(61_000)
  await lookUpPending(sale.parts)
  await sale.work()
  const [booked] = await sale.sql`select count(*)::int as count from bookings where status = 'CONFIRMED'`
  assert.equal(booked?.count, 20)
  assert.equal(await lookUpPending(sale.parts), 0)
  await assertSoundBooks(sale.sql)
})

test('asked about after its hold: late, let go; never paid: ended, and its page closed; asked twice at once: written once', async (t) => {
  const sale = await testSale(t)
  const paid = await sale.checkOut(await sale.hold(['F5']))
  await sale.pay(paid, { fault: 'never' })
  const left = await sale.checkOut(await sale.hold(['F6']))
  await sale.db.shiftClock(QUARTER_MS + 1_000)
  await Promise.all([lookUpPending(sale.parts), lookUpPending(sale.parts), sale.expire()])
  await lookUpPending(sale.parts)
  await sale.work()
  assert.deepEqual((await statuses(sale)).payments, ['VOIDED', 'EXPIRED'])
  assert.deepEqual(await settled(sale), ['VOID LATE DONE'])
  assert.equal(await sale.pay(left), 409)
  await sale.db.shiftClock(100 * HOUR_MS)
  const [open] =
    await sale.sql`select count(*)::int as count from payments where final_at is null and status in ('CREATED', 'FAILED', 'EXPIRED')`
  assert.equal(open?.count, 0)
  await assertSoundBooks(sale.sql)
})

test('the answer to open was lost: the payment is found by our own name', async (t) => {
  const sale = await testSale(t)
  const checkout = await sale.checkOut(await sale.hold(['F5']))
  await sale.pay(checkout, { fault: 'never' })
  await sale.sql`update payments set provider_payment_id = null, payment_url = null`
  await sale.db.shiftClock(QUARTER_MS + 1_000)
  await lookUpPending(sale.parts)
  await sale.work()
  assert.deepEqual((await statuses(sale)).payments, ['VOIDED'])
  await assertSoundBooks(sale.sql)
})

test('a provider that hangs is waited for so long and no longer, and asked again later', async (t) => {
  const sale = await testSale(t, { env: { PAYMENT_PROVIDER_TIMEOUT_MS: '100' } })
  await sale.checkOut(await sale.hold(['F5']))
  await sale.db.shiftClock(QUARTER_MS + 1_000)
  const hanging = sale.withProvider(() => ({ lookUp: () => new Promise(() => {}) }))
  assert.equal(await lookUpPending(hanging), 0)
  assert.equal(await lookUpPending(sale.parts), 0, 'not at once again')
  await sale.db.shiftClock(QUARTER_MS + HOUR_MS)
  assert.equal(await lookUpPending(sale.parts), 1)
})

test('three sides agree when all went well, and each difference has its name', async (t) => {
  const seats = ['A1', 'A2', 'A3', 'A4', 'A5', 'A6']
  const sale = await testSale(t, { seats })
  const good = await sale.buy(['A1', 'A2'])
  await cancel(sale, good.bookingId, [1])
  await sale.work()
  assert.deepEqual(await found(sale), [])

  // Nothing heard; the answer to a capture lost; charged by nobody; paid back at the provider; disputed; a row of ours that is wrong.
  const unheard = await sale.checkOut(await sale.hold(['A3']))
  await sale.pay(unheard, { fault: 'captured', callbackAfterMs: 70 * HOUR_MS })
  const lost = await sale.buy(['A4'])
  await sale.sql`update payments set status = 'AUTHORISED', captured_minor = 0 where booking_id = ${lost.bookingId}`
  await sale.sql`update settlements set status = 'DUE', next_attempt_at = holdfast_now() + interval '1 hour' where booking_id = ${lost.bookingId}`
  const refunded = await sale.buy(['A5'])
  const disputed = await sale.buy(['A6'])
  const idOf = (checkout: { paymentUrl: string | null }) => checkout.paymentUrl?.split('/').at(-1) ?? ''
  await sale.sql`update sandbox_payments set refunded_minor = 100 where id = ${idOf(refunded.checkout)}`
  const headers = { authorization: (await sale.key('admin')).authorization }
  const dispute = {
    method: 'POST',
    url: `/v1/admin/sandbox/payments/${idOf(disputed.checkout)}/dispute`,
    headers,
  } as const
  assert.equal((await sale.app.inject(dispute)).statusCode, 204)
  const payload = { amount: { amount: 777, currency: 'EUR' } }
  const charge = { method: 'POST', url: '/v1/admin/sandbox/charges', headers, payload } as const
  assert.equal((await sale.app.inject(charge)).statusCode, 201)
  await sale.sql`update bookings set amount_minor = amount_minor + 5 where id = ${good.bookingId}`

  const all = [
    'BOOKINGS WORKLIST -5',
    'DISPUTE WORKLIST 0',
    `LOST_CALLBACK REPAIRED ${PRICE_MINOR}`,
    `LOST_REPLY DRIVEN ${PRICE_MINOR}`,
    'UNKNOWN_CHARGE WORKLIST 777',
    'UNKNOWN_REFUND WORKLIST -100',
  ]
  assert.deepEqual(await found(sale), all)
  const repaired = all.filter((difference) => !difference.startsWith('LOST_CALLBACK'))
  assert.deepEqual(await found(sale), repaired, 'what was repaired is gone')
  const kinds = await sale.sql<{ kind: string }[]>`select kind from worklist order by kind`
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['BOOKINGS', 'DISPUTE', 'UNKNOWN_CHARGE', 'UNKNOWN_REFUND'],
    'put there once, though found twice',
  )
})

test('asked for at the door, run by a worker, read with its totals; the daily one once, whoever is first', async (t) => {
  const sale = await testSale(t)
  await sale.buy(['F5'])
  const headers = { authorization: (await sale.key('admin')).authorization }
  const url = '/v1/admin/reconciliations'
  const asked = (await sale.app.inject({ method: 'POST', url, headers })).json()
  assert.equal(asked.status, 'QUEUED')
  await Promise.all([runNext(sale.parts), runNext(sale.parts)])
  const { reconciliation, differences } = (await sale.app.inject({ url: `${url}/${asked.id}`, headers })).json()
  assert.deepEqual([reconciliation.status, differences], ['DONE', []])
  const money = { providerMinor: PRICE_MINOR, paymentsMinor: PRICE_MINOR, bookingsMinor: PRICE_MINOR }
  const none = { owedMinor: 0, differencesMinor: 0, restMinor: 0 }
  assert.deepEqual(reconciliation.totals, [{ currency: 'EUR', payments: 1, ...money, ...none }])
  assert.match(reconciliation.requestedBy, /^key_\d+ admin$/)
  assert.equal((await sale.app.inject({ method: 'POST', url })).statusCode, 401)

  const broken = sale.withProvider(() => ({
    async *list() {
      yield* []
      throw new Error('503')
    },
  }))
  const id = await requestReconciliation(sale.sql, { by: 'test' })
  await runNext(broken)
  const failed = (await sale.app.inject({ url: `${url}/recon_${id}`, headers })).json()
  assert.deepEqual([failed.reconciliation.status, failed.reconciliation.failure], ['FAILED', '503'])
})

test('trap 15: a refund taken on that fails is owed again with a new key; one that was done and fails later too; told once', async (t) => {
  const sale = await testSale(t)
  const order = { contact: {}, faults: ['refund_fails'] }
  const { startCheckout } = await import('#payments/start-checkout.ts')
  const checkout = await startCheckout(sale.parts, { ...(await sale.hold(['F5'])), ...order })
  await sale.pay(checkout)
  await sale.work()
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings`
  await cancel(sale, booking?.id ?? '')
  const debt = async () => {
    const [row] = await sale.sql`select id, status, tries, attempts from settlements where kind = 'REFUND'`
    return { id: String(row?.id), text: `${row?.status} ${row?.tries}` }
  }
  await sale.work()
  assert.equal((await debt()).text, 'DUE 1')
  await sale.db.shiftClock(3_000)
  await sale.work()
  assert.equal((await debt()).text, 'DUE 2')
  await sale.db.shiftClock(100_000)
  await sale.work()
  assert.equal((await debt()).text, 'DONE 2')
  await assertSoundBooks(sale.sql)

  // The bank sends it back a day later; its books say so too.
  const { id } = await debt()
  const failed = await sale.message('disputed', checkout)
  await sale.sql`update sandbox_movements set status = 'FAILED' where idempotency_key = ${`${id}_2`}`
  await sale.sql`update sandbox_payments set refunded_minor = 0`
  await sale.send({ type: 'payment.refund_failed', data: { ...failed.data, movement: `${id}_2` } }, 'evt_back')
  await sale.send({ type: 'payment.refund_failed', data: { ...failed.data, movement: `${id}_2` } }, 'evt_back_again')
  assert.equal((await debt()).text, 'DUE 3')
  await sale.db.shiftClock(300_000)
  await sale.work()
  assert.equal((await debt()).text, 'DONE 3')
  const told = await sale.sql`select 1 from outbox where name = 'PaymentRefunded'`
  assert.equal(told.count, 1)
  await assertSoundBooks(sale.sql)
})

test('a stuck debt: tried again by an administrator, or paid out by hand, with who did it; not when it is not stuck', async (t) => {
  const sale = await testSale(t)
  const { bookingId } = await sale.buy(['F5', 'F6'])
  await cancel(sale, bookingId, ['F5'])
  await cancel(sale, bookingId, ['F6'])
  const { settleDueDebts } = await import('#payments/settle-debts.ts')
  await settleDueDebts(sale.withProvider(() => ({ refund: async () => ({ outcome: 'REFUSED', reason: 'no' }) })))
  const headers = { authorization: (await sale.key('admin')).authorization }
  const list = (await sale.app.inject({ url: '/v1/admin/settlements?status=STUCK', headers })).json().items
  assert.equal(list.length, 2)
  const act = (id: string, verb: string, payload?: object) =>
    sale.app.inject({
      method: 'POST',
      url: `/v1/admin/settlements/${id}/${verb}`,
      headers,
      ...(payload ? { payload } : {}),
    })
  assert.equal((await act(list[0].id, 'retry')).statusCode, 204)
  assert.equal((await act(list[0].id, 'retry')).statusCode, 409)
  const byHand = { reference: 'receipt 12' }
  const both = await Promise.all([act(list[1].id, 'done-by-hand', byHand), act(list[1].id, 'done-by-hand', byHand)])
  assert.deepEqual(both.map(({ statusCode }) => statusCode).sort(), [204, 409])
  assert.equal((await act(formatSharded('debt', 1, '0'.repeat(32)), 'retry')).statusCode, 404)
  await sale.work()
  const [payment] = await sale.sql`select status, refunded_minor from payments`
  assert.deepEqual({ ...payment }, { status: 'REFUNDED', refundedMinor: 2 * PRICE_MINOR })
  const items = await sale.sql<
    { by: string; resolution: string }[]
  >`select resolved_by as by, resolution from worklist order by resolution`
  assert.deepEqual(
    items.map(({ resolution }) => resolution),
    ['paid back by hand: receipt 12', 'tried again'],
  )
  for (const { by } of items) assert.match(by, /^key_\d+ admin$/)
})

test('cash: for staff only, confirmed at once, and a refund waits until it is paid out by hand', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F5'])
  const url = `/v1/holds/${formatSharded('hold', hold.inventoryId, hold.holdId)}/checkout`
  const pay = (headers: Record<string, string>, key: string) =>
    sale.app.inject({
      method: 'POST',
      url,
      payload: { method: 'cash' },
      headers: { ...headers, 'idempotency-key': key },
    })
  assert.equal((await pay({ 'hold-token': hold.token }, 'a')).statusCode, 422)
  const staff = { authorization: (await sale.key('box_office')).authorization }
  const sold = await pay(staff, 'b')
  assert.deepEqual([sold.statusCode, sold.json().status, sold.json().paymentUrl], [201, 'CONFIRMED', null])
  await sale.relay()
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings`
  await cancel(sale, booking?.id ?? '')
  await sale.settle()
  const [stuck] = (await sale.app.inject({ url: '/v1/admin/settlements?status=STUCK', headers: staff })).json().items
  assert.match(stuck.lastError, /by hand/)
  const done = {
    method: 'POST',
    url: `/v1/admin/settlements/${stuck.id}/done-by-hand`,
    headers: staff,
    payload: { reference: 'till 1' },
  } as const
  assert.equal((await sale.app.inject(done)).statusCode, 204)
  const [payment] = await sale.sql`select status from payments`
  assert.equal(payment?.status, 'REFUNDED')
})

test('faults by the header at checkout in development, by rules of an administrator; neither by a word nobody knows', async (t) => {
  const sale = await testSale(t)
  const checkOut = async (seat: string, faults?: string) => {
    const hold = await sale.hold([seat])
    const url = `/v1/holds/${formatSharded('hold', hold.inventoryId, hold.holdId)}/checkout`
    const headers = {
      'hold-token': hold.token,
      'idempotency-key': seat,
      ...(faults ? { 'sandbox-faults': faults } : {}),
    }
    return (await sale.app.inject({ method: 'POST', url, headers })).statusCode
  }
  assert.equal(await checkOut('F5', 'fire'), 422)
  assert.equal(await checkOut('F6', 'never, slow:capture'), 201)
  const headers = { authorization: (await sale.key('admin')).authorization }
  const rule = (fault: string) =>
    sale.app.inject({
      method: 'PUT',
      url: '/v1/admin/sandbox/faults',
      headers,
      payload: { items: [{ fault, percent: 100 }] },
    })
  assert.equal((await rule('fire')).statusCode, 422)
  assert.equal((await rule('twice')).statusCode, 200)
  assert.equal(await checkOut('F7'), 201)
  const plans = await sale.sql<{ faults: string[] }[]>`select faults from sandbox_payments order by created_at`
  assert.deepEqual(
    plans.map(({ faults }) => faults),
    [['never', 'slow:capture'], ['twice']],
  )
})
