// A booking and its lines as the verbs read them, and the facts about it that are told.
import { formatSharded } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import type { EventPayload } from '#outbox/event.ts'

export type BookingStatus = 'PENDING' | 'CONFIRMED' | 'CANCELLED' | 'FAILED' | 'EXPIRED'

export type Booking = {
  inventoryId: number
  id: string
  reference: string
  customerId: string
  holdId: string
  status: BookingStatus
  amountMinor: number
  currency: string
  /** The end of its hold: a PENDING booking cannot be paid from then on. */
  expiresAt: string
}

export type BookingLine = {
  lineNo: number
  seatCode: string | null
  poolCode: string | null
  quantity: number
  category: string
  /** What was asked for it in money. */
  amountMinor: number
  /** What a gift voucher paid of it besides. */
  voucherMinor: number
  status: 'ACTIVE' | 'CANCELLED'
}

/** Null when there is none. Its status is only sure while the inventory is locked. */
export async function findBooking(tx: Tx, inventoryId: number, id: string): Promise<Booking | null> {
  const [row] = await tx<Booking[]>`
    select inventory_id, id, reference, customer_id, hold_id, status, amount_minor, currency, expires_at
    from bookings where inventory_id = ${inventoryId} and id = ${id}`
  return row ?? null
}

export async function findBookingOfHold(tx: Tx, inventoryId: number, holdId: string): Promise<Booking | null> {
  const [row] = await tx<Booking[]>`
    select inventory_id, id, reference, customer_id, hold_id, status, amount_minor, currency, expires_at
    from bookings where inventory_id = ${inventoryId} and hold_id = ${holdId}`
  return row ?? null
}

/** In the order of the quote. */
export async function readLines(tx: Tx, inventoryId: number, bookingId: string): Promise<BookingLine[]> {
  return tx<BookingLine[]>`
    select line_no, seat_code, pool_code, quantity, category, amount_minor, voucher_minor, status from booking_lines
    where inventory_id = ${inventoryId} and booking_id = ${bookingId} order by line_no`
}

/** What every fact about a booking says. */
export function bookingFacts(booking: Booking, lines: BookingLine[]): EventPayload {
  return {
    bookingId: formatSharded('book', booking.inventoryId, booking.id),
    reference: booking.reference,
    inventoryId: booking.inventoryId,
    amount: { amount: booking.amountMinor, currency: booking.currency },
    seats: lines.flatMap(({ seatCode }) => seatCode ?? []),
    lines: lines.map(({ lineNo }) => lineNo),
  }
}
