// Turns a hold that has just been checked out into a booking that waits for its payment, with the frozen quote as its lines.
import { newUuid } from '#core/ids.ts'
import { splitMinor } from '#core/money.ts'
import type { Tx } from '#database/connect.ts'
import type { HoldState } from '#inventory/seat-store.ts'
import { append } from '#outbox/append.ts'
import type { Quote, QuoteLine } from '#pricing/quote.ts'
import type { Wishes } from '#promotions/promotion.ts'
import { takePromotions } from '#promotions/take-promotions.ts'
import { type Booking, type BookingLine, bookingFacts } from './booking.ts'

export type Contact = { email?: string; name?: string }
type OpenOrder = {
  inventoryId: number
  /** Nobody has it yet: newReference. */
  reference: string
  hold: HoldState
  contact: Contact
  /** A promo code and a gift voucher the buyer named. */
  wishes: Wishes
  expiresAt: string
  now: string
}

/**
 * Part of the checkout's transaction, which has locked the inventory. A quote whose lines are not its total is ours to repair, not to sell. What the buyer
 * named to pay less is taken here and split over the lines for good. Throws what takePromotions throws.
 */
export async function openBooking(tx: Tx, order: OpenOrder): Promise<Booking> {
  const { inventoryId, reference, hold, contact, wishes, expiresAt, now } = order
  const { customerId, currency } = hold
  const id = newUuid()
  const full = linesOf(hold)
  const linesMinor = full.map(({ amountMinor }) => amountMinor)
  const reduction = await takePromotions(tx, id, { inventoryId, customerId, currency, linesMinor }, wishes)
  const lines = full.map((line, index): BookingLine => {
    const voucherMinor = reduction.vouchersMinor[index] ?? 0
    return {
      ...line,
      amountMinor: line.amountMinor - (reduction.discountsMinor[index] ?? 0) - voucherMinor,
      voucherMinor,
    }
  })
  const booking: Booking = {
    inventoryId,
    id,
    reference,
    customerId,
    holdId: hold.holdId,
    status: 'PENDING',
    amountMinor: lines.reduce((total, line) => total + line.amountMinor, 0),
    currency,
    expiresAt,
  }
  // Sent together, run in this order.
  await Promise.all([
    tx`
    insert into bookings (inventory_id, id, reference, customer_id, hold_id, status, amount_minor, currency, email, name, created_at, expires_at)
    values (${inventoryId}, ${booking.id}, ${booking.reference}, ${booking.customerId}, ${booking.holdId}, 'PENDING', ${booking.amountMinor},
      ${booking.currency}, ${contact.email ?? null}, ${contact.name ?? null}, ${now}, ${expiresAt})`.execute(),
    tx`
    insert into booking_lines (inventory_id, booking_id, line_no, seat_code, pool_code, quantity, category, amount_minor, voucher_minor)
    select ${inventoryId}, ${booking.id}, l."lineNo", l."seatCode", l."poolCode", 1, l.category, l."amountMinor", l."voucherMinor"
    from jsonb_to_recordset(${tx.json(lines)}) l ("lineNo" int, "seatCode" text, "poolCode" text, category text, "amountMinor" bigint,
      "voucherMinor" bigint)`.execute(),
    append(tx, {
      inventoryId,
      bookingId: booking.id,
      name: 'BookingPending',
      payload: bookingFacts(booking, lines),
    }),
  ])
  return booking
}

// A line is what can be cancelled by itself, so a quantity becomes as many lines; splitting its price here makes their sum exact for good.
function linesOf(hold: HoldState): BookingLine[] {
  const quote = hold.quote as Quote
  const lines = quote.lines
    .flatMap((line) => unitsOf(line))
    .map((unit, index): BookingLine => ({ ...unit, lineNo: index + 1, quantity: 1, voucherMinor: 0, status: 'ACTIVE' }))
  const sum = lines.reduce((total, line) => total + line.amountMinor, 0)
  if (sum !== hold.amountMinor) throw new Error(`hold ${hold.holdId} costs ${hold.amountMinor}, but its lines ${sum}`)
  return lines
}

function unitsOf({ seat, pool, quantity, category, amountMinor }: QuoteLine) {
  const unit = { seatCode: seat ?? null, poolCode: pool ?? null, category }
  return splitMinor(amountMinor, new Array<number>(quantity).fill(1)).map((share) => ({ ...unit, amountMinor: share }))
}
