// Writes down that money is to be moved, in the transaction that decided it. From then on it cannot be forgotten: settle-debts.ts drives it.
import { newUuid } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import type { Payment } from './payment.ts'

export type SettlementKind = 'CAPTURE' | 'VOID' | 'REFUND' | 'EXPIRE_SESSION'

/**
 * CONFIRMED: the seats are sold, take the money. LATE: the hold was over. SURPLUS: another payment pays for the booking already. CANCELLED: the buyer
 * gave it back. ENDED: nobody is to pay in this session any more.
 */
export type SettlementReason = 'CONFIRMED' | 'LATE' | 'SURPLUS' | 'CANCELLED' | 'ENDED'

/**
 * The row's id is the provider's idempotency key. A second CAPTURE, VOID or EXPIRE_SESSION of one payment is the first one; refunds may be several, and
 * the caller has made sure that their sum is not more than was paid.
 */
export async function owe(
  tx: Tx,
  payment: Payment,
  debt: { kind: SettlementKind; amountMinor: number; reason: SettlementReason },
): Promise<void> {
  await tx`
    with clock as (select holdfast_now() as t offset 0)
    insert into settlements (inventory_id, id, payment_id, booking_id, kind, amount_minor, currency, reason, next_attempt_at, created_at)
    select ${payment.inventoryId}, ${newUuid()}, ${payment.id}, ${payment.bookingId}, ${debt.kind}, ${debt.amountMinor}, ${payment.currency},
      ${debt.reason}, c.t, c.t from clock c
    on conflict (inventory_id, payment_id, kind) where kind <> 'REFUND' do nothing`
}

/** Gives back all of a payment whose money nobody needs: reserved money is let go, taken money is paid back. */
export async function oweBack(tx: Tx, payment: Payment, reason: SettlementReason): Promise<void> {
  const kind = payment.status === 'CAPTURED' ? 'REFUND' : 'VOID'
  await owe(tx, payment, { kind, amountMinor: payment.amountMinor, reason })
}
