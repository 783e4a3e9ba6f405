// A buyer with a hold: pays in one of many ways, or does not. What became of it is read from the booking, as the buyer's page would.
import { randomUUID } from 'node:crypto'
import type { Booking, Checkout } from './contract.ts'
import type { HoldSeen } from './history.ts'
import { noteLatency } from './latency.ts'
import { askPatiently, type Buyer, secondOf, tell } from './stage.ts'
import { count } from './tally.ts'
import { monotonicMs } from './wire.ts'

export type Ended = 'PAID' | 'PAID_LATE' | 'DECLINED' | 'LEFT' | 'LAPSED' | 'RELEASED' | 'CANCELLED' | 'UNPAID'

const CONFIRMED_WITHIN_MS = 30_000
const POLL_MS = 250
const POLL_MAX_MS = 2_000
// The message about a late payment arrives so long after the hold's end.
const LATE_BY_MS = 1_000
// Nobody waits longer than this for a hold to run out; on a system with ten minutes they just leave.
const LAPSE_WAIT_MAX_MS = 60_000

export async function payHold(buyer: Buyer, hold: HoldSeen): Promise<Ended> {
  const { stage, plan, chance } = buyer
  await stage.pause(chance.aroundMs(plan.thinkMs))
  if (stage.over()) return 'LEFT'
  if (plan.ending === 'releases') return release(buyer, hold)
  const leftMs = () => hold.aliveUntilMs - monotonicMs()
  if (plan.ending === 'letsItLapse') {
    if (leftMs() < LAPSE_WAIT_MAX_MS) await stage.pause(leftMs() + LATE_BY_MS)
    return 'LAPSED'
  }
  let page = await checkOut(buyer, hold)
  if (page === null) return 'UNPAID'
  await stage.pause(chance.aroundMs(plan.thinkMs))
  if (plan.ending === 'leavesUnpaid' || stage.over()) return 'LEFT'
  if (plan.ending === 'declined' || plan.ending === 'declinedThenPays') {
    await askPatiently(buyer, () => buyer.ask('pay', `${page}/decline`, { method: 'POST' }))
    if (plan.ending === 'declined') return 'DECLINED'
    page = await checkOutAgain(buyer, hold, page)
    if (page === null) return 'UNPAID'
  }
  return pay(buyer, hold, page)
}

async function release(buyer: Buyer, hold: HoldSeen): Promise<Ended> {
  hold.endedMs ??= monotonicMs()
  await askPatiently(buyer, () => buyer.ask('release', `/v1/holds/${hold.holdId}`, { method: 'DELETE' }))
  return 'RELEASED'
}

/** The path of the payment page; null when there is nothing to pay at. A double click is two requests with one key. */
async function checkOut(buyer: Buyer, hold: HoldSeen): Promise<string | null> {
  const headers: Record<string, string> = { 'idempotency-key': randomUUID() }
  if (buyer.admission !== null) headers['holdfast-admission'] = buyer.admission
  const body = { email: `buyer-${buyer.plan.buyer}@rush.example` }
  const click = () =>
    askPatiently(buyer, () =>
      buyer.ask('checkout', `/v1/holds/${hold.holdId}/checkout`, { method: 'POST', body, headers }),
    )
  const replies = buyer.plan.doubleClick === 'no' ? [await click()] : await Promise.all([click(), click()])
  const yes = replies.find(({ status }) => status === 201)
  if (!yes) return null
  const { bookingId, paymentUrl } = yes.read<Checkout>()
  hold.bookingId = bookingId
  // PUBLIC_URL may be another name of the system than the one it is rushed by; a provider's own page is nobody's to rush.
  const path = paymentUrl === null ? '' : new URL(paymentUrl).pathname
  return path.includes('/sandbox/pay/') ? path.slice(path.indexOf('/sandbox/pay/')) : null
}

// The booking learns of a decline by a message; until then a checkout still answers the page that is over.
async function checkOutAgain(buyer: Buyer, hold: HoldSeen, declined: string): Promise<string | null> {
  for (let attempt = 1; attempt <= 5; attempt++) {
    await buyer.stage.pause(POLL_MS * attempt)
    const page = await checkOut(buyer, hold)
    if (page !== declined) return page
  }
  return null
}

async function pay(buyer: Buyer, hold: HoldSeen, page: string): Promise<Ended> {
  const { plan, stage } = buyer
  const lateMs = plan.ending === 'paysLate' ? await untilTooLate(buyer, hold) : null
  const order = {
    ...(plan.fault === 'none' ? {} : { fault: plan.fault }),
    ...(lateMs === null ? {} : { callbackAfterMs: lateMs }),
  }
  const click = () => askPatiently(buyer, () => buyer.ask('pay', `${page}/pay`, { method: 'POST', body: order }))
  const paidMs = monotonicMs()
  const replies = plan.paysTwice ? await Promise.all([click(), click()]) : [await click()]
  if (!replies.some(({ status }) => status === 200)) return 'UNPAID'
  hold.paid = true
  if (lateMs !== null) return 'PAID_LATE'
  const booking = await untilDecided(buyer, hold.bookingId ?? '')
  if (booking?.status !== 'CONFIRMED') return 'PAID_LATE'
  noteLatency(stage.tally().confirmation, monotonicMs() - paidMs)
  noteSold(buyer, hold)
  return plan.ending === 'cancels' ? cancel(buyer, hold) : 'PAID'
}

// The sandbox's message can be held back until the hold is over; null where that would take too long to watch.
async function untilTooLate(buyer: Buyer, hold: HoldSeen): Promise<number | null> {
  const reply = await buyer.ask('booking', `/v1/holds/${hold.holdId}`)
  const leftMs = reply.status === 200 ? reply.read<{ remainingMs: number }>().remainingMs : Number.POSITIVE_INFINITY
  return leftMs < LAPSE_WAIT_MAX_MS ? leftMs + LATE_BY_MS : null
}

async function untilDecided(buyer: Buyer, bookingId: string): Promise<Booking | null> {
  const untilMs = monotonicMs() + CONFIRMED_WITHIN_MS
  for (let pauseMs = POLL_MS; ; pauseMs = Math.min(pauseMs * 1.5, POLL_MAX_MS)) {
    await buyer.stage.pause(pauseMs)
    const reply = await buyer.ask('booking', `/v1/bookings/${bookingId}`)
    const booking = reply.status === 200 ? reply.read<Booking>() : null
    if (booking && booking.status !== 'PENDING') return booking
    if (monotonicMs() > untilMs || buyer.stage.over()) return booking
  }
}

function noteSold({ stage }: Buyer, hold: HoldSeen): void {
  hold.confirmedMs = monotonicMs()
  count(stage.tally().counts, 'seatsSold', hold.seats.length)
  count(stage.tally().soldPerSecond, secondOf(stage), hold.seats.length)
}

async function cancel(buyer: Buyer, hold: HoldSeen): Promise<Ended> {
  await buyer.stage.pause(buyer.chance.aroundMs(buyer.plan.thinkMs))
  hold.endedMs = monotonicMs()
  const reply = await askPatiently(buyer, () =>
    buyer.ask('cancel', `/v1/bookings/${hold.bookingId}`, { method: 'DELETE' }),
  )
  // Without an answer it may have been cancelled: the history must not take it for one that was not.
  hold.cancelled = reply.status === 200 || reply.status === 0
  if (reply.status !== 200) return 'PAID'
  tell(buyer, 'seatsSold', -hold.seats.length)
  return 'CANCELLED'
}
