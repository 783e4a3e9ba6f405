// Cancels a booking, or some of its lines: the seats are on sale again and the refund is owed in the same transaction.
import { type Booking, findBooking, readLines } from '#bookings/booking.ts'
import { type ChosenLines, cancelLines } from '#bookings/cancel-lines.ts'
import { endBooking } from '#bookings/end-booking.ts'
import { lockSale } from '#bookings/lock-sale.ts'
import { quoteCancellation, type RefundRule } from '#bookings/quote-cancellation.ts'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import type { Gate } from '#gate/gate.ts'
import { releaseHold } from '#holds/release-hold.ts'
import { endOpenAttempt } from './end-attempts.ts'
import { owe } from './owe.ts'
import { findPayment, type Payment } from './payment.ts'

export type Cancellation = {
  status: 'CONFIRMED' | 'CANCELLED'
  /** What goes back to the buyer because of this call; for a booking that was cancelled already, what went back then. */
  refundMinor: number
  /** What goes back onto the gift voucher that paid of it. */
  voucherMinor?: number
  currency: string
  rule: RefundRule | null
}
type Parts = { sql: Sql; gate: Gate; wake: (worker: string) => void }

/** `chosen` null is everything that is left. Throws NOT_CANCELLABLE {status | rule | lines}, INVALID_REQUEST, NOT_FOUND. */
export async function cancelBooking(
  { sql, gate, wake }: Parts,
  { inventoryId, bookingId }: { inventoryId: number; bookingId: string },
  chosen: ChosenLines,
): Promise<Cancellation> {
  const { customerId, seats, cancellation } = await sql.begin(async (tx) => {
    const now = await lockSale(tx, inventoryId)
    const booking = await findBooking(tx, inventoryId, bookingId)
    if (!booking) throw new Problem('NOT_FOUND')
    const lines = await readLines(tx, inventoryId, bookingId)
    const seats = lines.flatMap(({ seatCode }) => seatCode ?? [])
    return { customerId: booking.customerId, seats, cancellation: await cancelLocked(tx, booking, chosen, now) }
  })
  await gate.free(inventoryId, seats, customerId)
  wake('relay')
  wake('settle')
  return cancellation
}

async function cancelLocked(tx: Tx, booking: Booking, chosen: ChosenLines, now: string): Promise<Cancellation> {
  if (booking.status === 'CANCELLED' && chosen === null) return cancelledBefore(tx, booking)
  if (booking.status === 'PENDING') return giveUp(tx, booking, chosen, now)
  const { refundMinor, voucherMinor, rule, status } = await cancelLines(tx, booking, chosen, now)
  if (refundMinor > 0) await oweRefund(tx, booking, refundMinor)
  const voucher = voucherMinor > 0 ? { voucherMinor } : {}
  return { status, refundMinor, ...voucher, currency: booking.currency, rule }
}

// Nothing was paid, so nothing is paid back and no rule applies; money that is under way is given back as late when it arrives.
async function giveUp(tx: Tx, booking: Booking, chosen: ChosenLines, now: string): Promise<Cancellation> {
  const { inventoryId, id } = booking
  const { rule } = await quoteCancellation(tx, booking, now)
  if (chosen !== null) {
    const detail = 'It is not paid yet: cancel it as a whole, or let it run out.'
    throw new Problem('NOT_CANCELLABLE', { status: booking.status, detail })
  }
  await releaseHold(tx, booking)
  await endBooking(tx, booking, 'CANCELLED')
  await endOpenAttempt(tx, inventoryId, id)
  return { status: 'CANCELLED', refundMinor: 0, currency: booking.currency, rule }
}

/**
 * When all of it goes back and nobody has begun to take the money, it is let go: the buyer was never charged. Otherwise it is taken first and paid back
 * then: a capture that was handed to the worker may be at the provider this very moment. The row of the capture decides between the two.
 */
async function oweRefund(tx: Tx, booking: Booking, amountMinor: number): Promise<void> {
  const payment = await payingPayment(tx, booking)
  if (payment.status === 'AUTHORISED' && amountMinor === payment.amountMinor) {
    const dropped = await tx`
      update settlements set status = 'DROPPED', done_at = holdfast_now()
      where inventory_id = ${payment.inventoryId} and payment_id = ${payment.id} and kind = 'CAPTURE' and status = 'DUE' and attempts = 0`
    if (dropped.count === 1) return owe(tx, payment, { kind: 'VOID', amountMinor, reason: 'CANCELLED' })
  }
  return owe(tx, payment, { kind: 'REFUND', amountMinor, reason: 'CANCELLED' })
}

async function payingPayment(tx: Tx, { inventoryId, id }: Booking): Promise<Payment> {
  const [row] = await tx<{ id: string }[]>`
    select id from payments where inventory_id = ${inventoryId} and booking_id = ${id} and pays`
  const payment = row && (await findPayment(tx, inventoryId, row.id))
  if (!payment) throw new Error(`booking ${id} is CONFIRMED and nothing pays for it`)
  return payment
}

async function cancelledBefore(tx: Tx, { inventoryId, id, currency }: Booking): Promise<Cancellation> {
  const [row] = await tx<{ refundMinor: number }[]>`
    select coalesce(sum(amount_minor), 0)::bigint as refund_minor from settlements
    where inventory_id = ${inventoryId} and booking_id = ${id} and reason = 'CANCELLED' and status <> 'DROPPED'`
  return { status: 'CANCELLED', refundMinor: row?.refundMinor ?? 0, currency, rule: null }
}
