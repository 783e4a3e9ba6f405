// When everybody is home: what became of every booking, read once more by those who made it, with some patience for money that is still on its way.
import type { Booking } from './contract.ts'
import type { BookingSeen, HoldSeen } from './history.ts'
import { askPatiently, type Buyer } from './stage.ts'
import { monotonicMs } from './wire.ts'

const SETTLED_WITHIN_MS = 45_000
const LOOK_AGAIN_MS = 1_000
const READERS = 16

/** A booking that could not be read is absent; whoever judges sees the system's own books as well. */
export async function reckon(holds: HoldSeen[], buyers: Map<number, Buyer>): Promise<BookingSeen[]> {
  const untilMs = monotonicMs() + SETTLED_WITHIN_MS
  const left = holds.filter(({ bookingId }) => bookingId !== null)
  const seen: BookingSeen[] = []
  await Promise.all(
    Array.from({ length: READERS }, async () => {
      for (let hold = left.pop(); hold; hold = left.pop()) {
        const buyer = buyers.get(hold.buyer)
        const booking = buyer && (await readSettled(buyer, hold, untilMs))
        if (booking) seen.push(booking)
      }
    }),
  )
  return seen
}

async function readSettled(buyer: Buyer, hold: HoldSeen, untilMs: number): Promise<BookingSeen | null> {
  for (;;) {
    const reply = await askPatiently(buyer, () => buyer.ask('booking', `/v1/bookings/${hold.bookingId}`))
    const seen = reply.status === 200 ? summarise(hold, reply.read<Booking>()) : null
    // Who never paid has nothing to wait for.
    if (!hold.paid || seen?.settled || monotonicMs() > untilMs) return seen
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}

function summarise(hold: HoldSeen, booking: Booking): BookingSeen {
  const { buyer, holdId, paid, cancelled } = hold
  const active = booking.lines.filter(({ status }) => status === 'ACTIVE')
  const sum = (part: 'captured' | 'refunded') =>
    booking.payments.reduce((total, payment) => total + payment[part].amount, 0)
  const owed =
    booking.payments.some(({ status }) => status === 'AUTHORISED') ||
    booking.refunds.some(({ status }) => status !== 'DONE')
  return {
    ...{ buyer, holdId, paid, cancelled, bookingId: booking.id, status: booking.status },
    seats: active.flatMap(({ seat }) => seat ?? []),
    amountMinor: booking.amount.amount,
    capturedMinor: sum('captured'),
    refundedMinor: sum('refunded'),
    tickets: booking.tickets.filter(({ status }) => status === 'VALID').length,
    settled: booking.status !== 'PENDING' && !owed,
  }
}
