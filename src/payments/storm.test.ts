// C7 at a size that fits: many payments, each with a storm of messages under mixed event ids, in any order, while holds run out and buyers give up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { HOLD_MS, testSale } from '#test/sale/test-sale.ts'
import { cancelBooking } from './cancel-booking.ts'
import type { Checkout } from './start-checkout.ts'

const PAYMENTS = 200
const AT_ONCE = 16

test(`C7: ${PAYMENTS} payments, ${AT_ONCE} messages at once each: all 200, one decision a payment, no money stranded`, async (t) => {
  const seed = Number(process.env.HOLDFAST_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`seed ${seed}`)
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % below
  }
  const seats = Array.from({ length: PAYMENTS }, (_, index) => `S${index + 1}`)
  const sale = await testSale(t, { seats, env: { LOG_LEVEL: 'fatal' } })
  const checkouts: { checkout: Checkout; late: boolean; bookingId: string }[] = []
  for (const seat of seats) {
    const late = random(4) === 0
    const hold = await sale.hold([seat])
    const checkout = await sale.checkOut(hold)
    await sale.pay(checkout, { fault: random(5) === 0 ? 'captured' : 'never', callbackAfterMs: 2 * HOLD_MS })
    const [booking] = await sale.sql<{ id: string }[]>`select id from bookings where hold_id = ${hold.holdId}`
    checkouts.push({ checkout, late, bookingId: booking?.id ?? '' })
  }

  const storm = async ({ checkout, bookingId }: (typeof checkouts)[number], index: number) => {
    const [payment] = await sale.sql<{ status: string }[]>`
      select s.status from sandbox_payments s where s.merchant_reference = ${checkout.paymentId}`
    const event = payment?.status === 'CAPTURED' ? 'captured' : 'authorised'
    const right = await sale.message(event, checkout)
    const declined = await sale.message('declined', checkout)
    const wrong = await sale.message(event, checkout, { amount: 1 })
    const messages = Array.from({ length: AT_ONCE }, () => {
      const eventId = `evt_${index}_${random(5)}`
      const kind = random(10)
      return kind === 0
        ? sale.send(declined, `${eventId}_d`)
        : kind === 1
          ? sale.send(wrong, `${eventId}_w`)
          : sale.send(right, eventId)
    })
    const given = random(10) === 0
    const cancelling = given
      ? cancelBooking(sale.parts, { inventoryId: sale.inventoryId, bookingId }, null).catch(() => {})
      : null
    assert.deepEqual(new Set(await Promise.all(messages)), new Set([200]))
    await cancelling
  }
  const inLanes = async (jobs: (typeof checkouts)[number][]) => {
    const queue = jobs.map((job) => [job, checkouts.indexOf(job)] as const)
    const lane = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await storm(...next)
    }
    await Promise.all(Array.from({ length: 4 }, lane))
  }
  await inLanes(checkouts.filter(({ late }) => !late))
  await sale.db.shiftClock(HOLD_MS + 1)
  await Promise.all([inLanes(checkouts.filter(({ late }) => late)), sale.expire(), sale.settle(), sale.relay()])
  await sale.db.shiftClock(2 * HOLD_MS + 60_000)
  await sale.work()

  const decided = await sale.sql<{ late: boolean; count: number }[]>`
    select payment_id, count(*)::int as count from payment_callbacks where outcome in ('CONFIRMED', 'LATE', 'SURPLUS') group by payment_id`
  assert.equal(decided.length, PAYMENTS)
  assert.deepEqual(new Set(decided.map(({ count }) => count)), new Set([1]))
  const [bookings] = await sale.sql<{ confirmed: number; pending: number }[]>`
    select count(*) filter (where confirmed_at is not null)::int as confirmed, count(*) filter (where status = 'PENDING')::int as pending from bookings`
  assert.equal(bookings?.pending, 0)
  assert.ok((bookings?.confirmed ?? 0) > 0)
  await assertSoundBooks(sale.sql)
})
