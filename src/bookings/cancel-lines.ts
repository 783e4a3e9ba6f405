// Takes seats of a confirmed booking back: on sale again, their lines and tickets cancelled, the fact told, all in the caller's transaction.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { PoolQuantity } from '#inventory/seat-store.ts'
import { append } from '#outbox/append.ts'
import { returnPromotions, returnToVoucher } from '#promotions/return-promotions.ts'
import { cancelTickets } from '#tickets/cancel-tickets.ts'
import { type Booking, type BookingLine, bookingFacts } from './booking.ts'
import { type CancellationQuote, quoteCancellation } from './quote-cancellation.ts'

/** Line numbers or seat codes; null is everything that is left. */
export type ChosenLines = (number | string)[] | null
export type CancelledLines = {
  refundMinor: number
  voucherMinor: number
  rule: CancellationQuote['rule']
  lines: BookingLine[]
  status: 'CONFIRMED' | 'CANCELLED'
}

/**
 * The inventory is locked, the booking was read under the lock and is CONFIRMED. The refund is worked out before anything changes; owing it is the
 * caller's part. Throws NOT_CANCELLABLE {rule | lines}, INVALID_REQUEST for a line the booking does not have.
 */
export async function cancelLines(tx: Tx, booking: Booking, chosen: ChosenLines, now: string): Promise<CancelledLines> {
  const { inventoryId, id } = booking
  const quote = await quoteCancellation(tx, booking, now)
  const going = choose(quote.lines, chosen)
  const back = (shares: number[]) => going.reduce((sum, line) => sum + (shares[quote.lines.indexOf(line)] ?? 0), 0)
  const refundMinor = back(quote.refundsMinor)
  const voucherMinor = back(quote.vouchersMinor)

  const { outcome } = await postgresStore(tx).cancel(inventoryId, id, { seats: seatsOf(going), pools: poolsOf(going) })
  if (outcome !== 'CANCELLED') throw new Error(`booking ${id} has lines that its inventory does not know as sold`)
  const numbers = going.map(({ lineNo }) => lineNo)
  const moved = await tx`
    update booking_lines set status = 'CANCELLED'
    where inventory_id = ${inventoryId} and booking_id = ${id} and line_no = any (${numbers}::int[]) and status = 'ACTIVE'`
  if (moved.count !== going.length) throw new Error(`booking ${id} lost lines under the lock`)
  await cancelTickets(tx, { inventoryId, bookingId: id, lines: numbers })

  const whole = quote.lines.every((line) => line.status === 'CANCELLED' || going.includes(line))
  if (!whole) await returnToVoucher(tx, inventoryId, id, voucherMinor)
  if (whole) {
    await returnPromotions(tx, inventoryId, id, voucherMinor)
    await tx`
      update bookings set status = 'CANCELLED', ended_at = ${now}
      where inventory_id = ${inventoryId} and id = ${id} and status = 'CONFIRMED'`
  }
  await append(tx, {
    inventoryId,
    bookingId: id,
    name: whole ? 'BookingCancelled' : 'BookingPartlyCancelled',
    payload: { ...bookingFacts(booking, going), refund: { amount: refundMinor, currency: booking.currency } },
  })
  return { refundMinor, voucherMinor, rule: quote.rule, lines: going, status: whole ? 'CANCELLED' : 'CONFIRMED' }
}

function choose(lines: BookingLine[], chosen: ChosenLines): BookingLine[] {
  if (chosen === null) return lines.filter(({ status }) => status === 'ACTIVE')
  const named = chosen.map((name, index) => {
    const line = lines.find(({ lineNo, seatCode }) => (typeof name === 'number' ? lineNo === name : seatCode === name))
    if (line) return line
    const message = 'is no line and no seat of this booking'
    throw new Problem('INVALID_REQUEST', { errors: [{ path: `/lines/${index}`, message }] })
  })
  const gone = named.filter(({ status }) => status === 'CANCELLED')
  if (gone.length > 0) {
    const detail = 'Some of these lines are cancelled already.'
    throw new Problem('NOT_CANCELLABLE', { lines: gone.map(({ lineNo }) => lineNo), detail })
  }
  return [...new Set(named)]
}

function seatsOf(lines: BookingLine[]): string[] {
  return lines.flatMap(({ seatCode }) => seatCode ?? [])
}

function poolsOf(lines: BookingLine[]): PoolQuantity[] {
  const pooled = Map.groupBy(
    lines.filter(({ poolCode }) => poolCode !== null),
    ({ poolCode }) => poolCode ?? '',
  )
  return [...pooled].map(([code, units]) => ({ code, quantity: units.reduce((sum, unit) => sum + unit.quantity, 0) }))
}
