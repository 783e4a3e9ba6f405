// Asks the provider for its payment page, outside any transaction, and writes down what it answered.
import type { Booking } from '#bookings/booking.ts'
import { lockSale } from '#bookings/lock-sale.ts'
import { formatSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { askProvider } from './ask-provider.ts'
import { owe } from './owe.ts'
import { findPayment, type Payment } from './payment.ts'
import type { OpenedSession, Provider } from './providers/provider.ts'

type Parts = {
  sql: Sql
  config: { publicUrl: string; paymentProviderTimeoutMs: number }
  wake: (worker: string) => void
}
const RETRY_AFTER_S = 2

/**
 * The payment's id is the provider's idempotency key: two tabs, or a repeat after a lost answer, get the same session. Throws
 * PAYMENT_PROVIDER_UNAVAILABLE, or HOLD_RELEASED when the buyer gave up while the provider was asked; then the session is ended.
 */
export async function openSession(
  parts: Parts,
  provider: Provider,
  { booking, payment, faults = [] }: { booking: Booking; payment: Payment; faults?: readonly string[] },
): Promise<Payment> {
  if (payment.paymentUrl !== null) return payment
  const paymentId = formatSharded('pay', payment.inventoryId, payment.id)
  const bookingId = formatSharded('book', booking.inventoryId, booking.id)
  let session: OpenedSession
  try {
    const description = await describe(parts.sql, booking)
    const order = {
      paymentId,
      amountMinor: payment.amountMinor,
      currency: payment.currency,
      description,
      expiresAt: payment.sessionExpiresAt,
      returnUrl: `${parts.config.publicUrl}/v1/bookings/${bookingId}`,
      idempotencyKey: paymentId,
      faults,
    }
    session = await askProvider(parts.config.paymentProviderTimeoutMs, () => provider.open(order))
  } catch (error) {
    if (error instanceof Problem) throw error
    const problem = new Problem('PAYMENT_PROVIDER_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S })
    problem.cause = error
    throw problem
  }
  const recorded = await parts.sql.begin((tx) => record(tx, payment, session))
  if (recorded.status !== 'EXPIRED') return recorded
  parts.wake('settle')
  throw new Problem('HOLD_RELEASED', { detail: 'The hold ended while the payment page was being opened.' })
}

async function record(tx: Tx, { inventoryId, id }: Payment, session: OpenedSession): Promise<Payment> {
  const [, , payment] = await Promise.all([
    lockSale(tx, inventoryId),
    tx`
    update payments set provider_payment_id = ${session.providerPaymentId}, payment_url = ${session.url}, updated_at = holdfast_now()
    where inventory_id = ${inventoryId} and id = ${id} and payment_url is null`.execute(),
    findPayment(tx, inventoryId, id),
  ])
  if (!payment) throw new Error(`payment ${id} is gone`)
  if (payment.status === 'EXPIRED') await owe(tx, payment, { kind: 'EXPIRE_SESSION', amountMinor: 0, reason: 'ENDED' })
  return payment
}

async function describe(sql: Sql, { inventoryId, reference, id }: Booking): Promise<string> {
  const [row] = await sql<{ title: string; venue: string; seats: string }[]>`
    select d.title, d.venue, (select string_agg(coalesce(l.seat_code, l.category), ', ' order by l.line_no) from booking_lines l
      where l.inventory_id = ${inventoryId} and l.booking_id = ${id}) as seats
    from inventory_descriptions d where d.inventory_id = ${inventoryId}`
  return row ? `${row.title}, ${row.venue}: ${row.seats} (${reference})` : `Booking ${reference}`
}
