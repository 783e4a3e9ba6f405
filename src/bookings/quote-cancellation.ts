// What cancelling would give back now: by the refund rules frozen when the inventory was opened, from the shares stored when it was sold.
import { splitMinor } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { type Booking, type BookingLine, readLines } from './booking.ts'

export type RefundRule = { percent: number; untilMinutesBefore: number }
export type CancellationQuote = {
  /** Null for a booking that is not paid: it is simply given up. */
  rule: RefundRule | null
  /** From this moment on another rule holds, or none. */
  validUntil: string
  lines: BookingLine[]
  /** What each line of `lines` would give back, in its order; 0 for those already cancelled. */
  refundsMinor: number[]
  /** What each line would put back on the gift voucher that paid of it. */
  vouchersMinor: number[]
}

/** Throws NOT_CANCELLABLE {status} or, when no rule holds any more, {rule: null}. */
export async function quoteCancellation(tx: Tx, booking: Booking, now: string): Promise<CancellationQuote> {
  const pending = booking.status === 'PENDING' && now < booking.expiresAt
  if (!pending && booking.status !== 'CONFIRMED') throw notCancellable(booking)
  const lines = await readLines(tx, booking.inventoryId, booking.id)
  // Never paid, so nothing to give back and no fee to take: no percentage of nothing.
  if (pending) {
    const nothing = lines.map(() => 0)
    return { rule: null, validUntil: booking.expiresAt, lines, refundsMinor: nothing, vouchersMinor: nothing }
  }

  const [rule] = await tx<(RefundRule & { validUntil: string })[]>`
    select r.percent, r."untilMinutesBefore", d.starts_at - make_interval(mins => r."untilMinutesBefore") as valid_until
    from inventory_descriptions d,
      rows from (jsonb_to_recordset(d.refund_rules) as (percent int, "untilMinutesBefore" int)) with ordinality r (percent, "untilMinutesBefore", no)
    where d.inventory_id = ${booking.inventoryId} and ${now}::timestamptz < d.starts_at - make_interval(mins => r."untilMinutesBefore")
    order by r.no limit 1`
  if (!rule)
    throw new Problem('NOT_CANCELLABLE', { rule: null, detail: 'The time in which it could be cancelled is over.' })
  const { validUntil, ...terms } = rule
  return {
    rule: terms,
    validUntil,
    lines,
    refundsMinor: refundShares(lines, terms.percent),
    vouchersMinor: refundShares(
      lines.map((line) => ({ ...line, amountMinor: line.voucherMinor })),
      terms.percent,
    ),
  }
}

/**
 * Rounded once, down, on the whole booking, and split over all its lines by largest remainder. So the same line gives back the same whether it is
 * cancelled alone, first, last or with the others, and all together never more than was paid.
 */
export function refundShares(lines: Pick<BookingLine, 'amountMinor' | 'status'>[], percent: number): number[] {
  const paid = lines.reduce((sum, { amountMinor }) => sum + BigInt(amountMinor), 0n)
  const whole = Number((paid * BigInt(percent)) / 100n)
  const weights = lines.map(({ amountMinor }) => amountMinor)
  return splitMinor(whole, weights).map((share, index) => (lines[index]?.status === 'ACTIVE' ? share : 0))
}

function notCancellable({ status }: Booking): Problem {
  const shown = status === 'PENDING' ? 'EXPIRED' : status
  return new Problem('NOT_CANCELLABLE', { status: shown, detail: `The booking is ${shown}.` })
}
