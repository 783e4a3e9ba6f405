// A booking as its owner sees it: what, when and where, its lines, every attempt to pay, what goes back, its tickets.
import { formatSharded, parseSharded } from '#core/ids.ts'
import type { Money } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { type Caller, mayAct } from '#identity/caller.ts'
import { provesHold } from '#identity/hold-token.ts'
import { readTickets, type Ticket } from '#tickets/read-tickets.ts'
import { type Booking, type BookingLine, type BookingStatus, readLines } from './booking.ts'
import { readSale, type Sale } from './read-sale.ts'

export type BookingView = {
  id: string
  reference: string
  /** A PENDING booking whose hold is over is shown EXPIRED, whether or not a worker has been there. */
  status: BookingStatus
  /** What is paid in money. */
  amount: Money
  promoCode: string | null
  discount: Money
  voucher: Money
  email: string | null
  name: string | null
  createdAt: string
  expiresAt: string
  confirmedAt: string | null
  endedAt: string | null
  sale: Sale | null
  lines: {
    line: number
    seat: string | null
    pool: string | null
    category: string
    amount: Money
    status: BookingLine['status']
  }[]
  payments: {
    id: string
    status: 'CREATED' | 'AUTHORISED' | 'CAPTURED' | 'REFUNDED' | 'FAILED' | 'EXPIRED' | 'VOIDED'
    provider: string
    amount: Money
    captured: Money
    refunded: Money
    createdAt: string
  }[]
  refunds: {
    id: string
    status: 'DUE' | 'DONE' | 'STUCK'
    kind: 'REFUND' | 'VOID'
    reason: 'LATE' | 'SURPLUS' | 'CANCELLED'
    amount: Money
    createdAt: string
  }[]
  tickets: Ticket[]
}
type Row = Omit<
  BookingView,
  'id' | 'amount' | 'discount' | 'voucher' | 'sale' | 'lines' | 'payments' | 'refunds' | 'tickets'
> & {
  amountMinor: number
  discountMinor: number
  voucherMinor: number
}
type Who = { caller: Caller; holdToken: string | null }

/** Throws NOT_FOUND for an unknown id and for a booking of somebody else: its customer, staff, or whoever has the token of its hold. */
export async function findOwnBooking(tx: Tx, publicId: string, who: Who): Promise<Booking> {
  const { inventoryId, uuid } = parseSharded('book', publicId)
  const [row] = await tx<(Booking & { tokenHash: string })[]>`
    select b.inventory_id, b.id, b.reference, b.customer_id, b.hold_id, b.status, b.amount_minor, b.currency, b.expires_at,
      encode(h.token_hash, 'hex') as token_hash
    from bookings b join holds h on h.inventory_id = b.inventory_id and h.id = b.hold_id
    where b.inventory_id = ${inventoryId} and b.id = ${uuid}`
  if (!row) throw new Problem('NOT_FOUND')
  const { tokenHash, ...booking } = row
  if (!mayAct(who.caller, booking.customerId) && !provesHold(who.holdToken, tokenHash)) throw new Problem('NOT_FOUND')
  return booking
}

export async function readBooking(tx: Tx, { inventoryId, id, currency }: Booking): Promise<BookingView> {
  const [row] = await tx<Row[]>`
    select b.reference, b.amount_minor, u.promo_code, coalesce(u.discount_minor, 0) as discount_minor,
      coalesce(u.voucher_minor, 0) as voucher_minor, b.email, b.name, b.created_at, b.expires_at, b.confirmed_at, b.ended_at,
      case when b.status = 'PENDING' and b.expires_at <= (select holdfast_now() offset 0) then 'EXPIRED' else b.status end as status
    from bookings b left join promotion_uses u on u.inventory_id = b.inventory_id and u.booking_id = b.id
    where b.inventory_id = ${inventoryId} and b.id = ${id}`
  if (!row) throw new Problem('NOT_FOUND')
  const money = (amount: number): Money => ({ amount, currency })
  const { amountMinor, discountMinor, voucherMinor, ...facts } = row
  const lines = await readLines(tx, inventoryId, id)
  return {
    id: formatSharded('book', inventoryId, id),
    ...facts,
    amount: money(amountMinor),
    discount: money(discountMinor),
    voucher: money(voucherMinor),
    sale: await readSale(tx, inventoryId),
    lines: lines.map((line) => ({
      line: line.lineNo,
      seat: line.seatCode,
      pool: line.poolCode,
      category: line.category,
      amount: money(line.amountMinor),
      status: line.status,
    })),
    payments: await readPayments(tx, inventoryId, id),
    refunds: await readRefunds(tx, inventoryId, id),
    tickets: await readTickets(tx, inventoryId, id),
  }
}

// Without the address of the payment page: whoever has it can pay, and only the checkout tells it.
async function readPayments(tx: Tx, inventoryId: number, bookingId: string): Promise<BookingView['payments']> {
  return tx<BookingView['payments']>`
    select 'pay_' || inventory_id || '_' || replace(id::text, '-', '') as id, status, provider, created_at,
      jsonb_build_object('amount', amount_minor, 'currency', currency) as amount,
      jsonb_build_object('amount', captured_minor, 'currency', currency) as captured,
      jsonb_build_object('amount', refunded_minor, 'currency', currency) as refunded
    from payments where inventory_id = ${inventoryId} and booking_id = ${bookingId} order by created_at, id`
}

async function readRefunds(tx: Tx, inventoryId: number, bookingId: string): Promise<BookingView['refunds']> {
  return tx<BookingView['refunds']>`
    select id::text, status, kind, reason, created_at, jsonb_build_object('amount', amount_minor, 'currency', currency) as amount
    from settlements
    where inventory_id = ${inventoryId} and booking_id = ${bookingId} and kind in ('REFUND', 'VOID') and status <> 'DROPPED'
    order by created_at, id`
}
