// The payment a buyer is to use: the one that is open, or a new one whose session ends before the hold does.
import type { Booking } from '#bookings/booking.ts'
import { newUuid } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import { endOpenAttempt } from './end-attempts.ts'
import { findOpenPayment, findPayment, type Payment } from './payment.ts'

/**
 * Part of the checkout's transaction; the booking is PENDING and its hold lives. A session ends a buffer before the hold, so that a message about
 * money paid at its last second still finds the seats. When little is left of the hold the buffer is a fifth of that: a buyer with a minute left can
 * try for 48 seconds.
 */
export async function openAttempt(
  tx: Tx,
  booking: Booking,
  provider: { name: string },
  config: { paymentSessionTtlMs: number; paymentBufferMs: number },
  now: string,
): Promise<Payment> {
  const { inventoryId, id: bookingId } = booking
  const open = await findOpenPayment(tx, inventoryId, bookingId)
  if (open && now < open.sessionExpiresAt) return open
  if (open) await endOpenAttempt(tx, inventoryId, bookingId)

  const id = newUuid()
  const [, payment] = await Promise.all([
    tx`
    insert into payments (inventory_id, id, booking_id, provider, status, amount_minor, currency, session_expires_at, created_at, updated_at)
    select ${inventoryId}, ${id}, ${bookingId}, ${provider.name}, 'CREATED', ${booking.amountMinor}, ${booking.currency},
      least(c.now + ${config.paymentSessionTtlMs} * interval '1 ms',
        c.hold_end - least(${config.paymentBufferMs} * interval '1 ms', (c.hold_end - c.now) / 5)), c.now, c.now
    from (select ${now}::timestamptz as now, ${booking.expiresAt}::timestamptz as hold_end) c`.execute(),
    findPayment(tx, inventoryId, id),
  ])
  if (!payment) throw new Error('a payment that was just written is not there')
  return payment
}
