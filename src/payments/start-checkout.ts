// Turns a hold into a booking that can be paid: decided in one transaction, then the provider is asked, then its answer is written down.

import type { Booking } from '#bookings/booking.ts'
import { lockSale } from '#bookings/lock-sale.ts'
import type { Contact } from '#bookings/open-booking.ts'
import { formatSharded } from '#core/ids.ts'
import type { Money } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import type { Wishes } from '#promotions/promotion.ts'
import { type AdmissionUse, claimAdmission } from '#waiting-room/claim-admission.ts'
import { bookingForHold } from './booking-for-hold.ts'
import { openAttempt } from './open-attempt.ts'
import { openSession } from './open-session.ts'
import { NO_PROVIDER, payAtOnce } from './pay-at-once.ts'
import type { Payment } from './payment.ts'
import { findProvider, type Provider, type Providers } from './providers/provider.ts'

export type CheckoutParts = {
  sql: Sql
  providers: Providers
  config: {
    paymentSessionTtlMs: number
    paymentBufferMs: number
    publicUrl: string
    paymentProviderTimeoutMs: number
  }
  wake: (worker: string) => void
}
/** `method` is a provider's name; absent, the first provider's. */
export type CheckoutOrder = {
  inventoryId: number
  holdId: string
  contact: Contact
  /** A promo code and a gift voucher; they count at the first checkout of a hold, which makes its booking. */
  wishes?: Wishes
  method?: string
  /** Staff may also take money at the counter. */
  byStaff?: boolean
  /** For a provider that only rehearses; see `SessionOrder`. */
  faults?: readonly string[]
  /** What the buyer was admitted by, where a waiting room is on: good for one purchase. */
  admission?: AdmissionUse | null
}

export type Checkout = {
  bookingId: string
  reference: string
  status: 'PENDING' | 'CONFIRMED'
  paymentId: string
  amount: Money
  /** Null when nothing is left to pay: the booking is CONFIRMED already. */
  paymentUrl: string | null
  /** The end of the payment session, always before the end of the hold. */
  payBy: string
  /** The end of the hold, from which on the seats are anybody's. */
  expiresAt: string
}

/**
 * Whoever calls has made sure that the hold may be paid by who asks. A repeat answers the same booking and, while its session is open, the same payment;
 * after a declined or expired one a new payment, within the same hold. Throws HOLD_EXPIRED, HOLD_RELEASED, ALREADY_BOOKED, ADMISSION_REQUIRED (used up), INVALID_REQUEST (method),
 * and PAYMENT_PROVIDER_UNAVAILABLE when the provider is away: then the seats stay held and the same call can be repeated.
 */
export async function startCheckout(parts: CheckoutParts, order: CheckoutOrder): Promise<Checkout> {
  const { sql, providers, config, wake } = parts
  const provider = chooseProvider(providers, order)
  const decided = await sql.begin((tx) => decide(tx, provider, config, order))
  wake('relay')
  const { booking } = decided
  // An attempt that is open stays with the provider that opened it, whichever method is asked for now.
  const opener = findProvider(providers, decided.payment.provider) ?? provider
  const payment =
    decided.payment.status === 'CREATED'
      ? await openSession(parts, opener, { ...decided, faults: order.faults ?? [] })
      : decided.payment
  return {
    bookingId: formatSharded('book', booking.inventoryId, booking.id),
    reference: booking.reference,
    status: payment.pays ? 'CONFIRMED' : 'PENDING',
    paymentId: formatSharded('pay', payment.inventoryId, payment.id),
    amount: { amount: booking.amountMinor, currency: booking.currency },
    paymentUrl: payment.paymentUrl,
    payBy: payment.sessionExpiresAt,
    expiresAt: booking.expiresAt,
  }
}

async function decide(
  tx: Tx,
  provider: Provider,
  config: CheckoutParts['config'],
  order: CheckoutOrder,
): Promise<{ booking: Booking; payment: Payment }> {
  const now = await lockSale(tx, order.inventoryId)
  if (order.admission) await claimAdmission(tx, order.admission, order.holdId)
  const booking = await bookingForHold(tx, order, config.paymentSessionTtlMs + config.paymentBufferMs, now)
  const payment =
    booking.amountMinor === 0
      ? await payAtOnce(tx, booking, NO_PROVIDER, now)
      : provider.takenAtCounter
        ? await payAtOnce(tx, booking, provider.name, now)
        : await openAttempt(tx, booking, provider, config, now)
  return { booking, payment }
}

function chooseProvider(providers: Providers, { method, byStaff }: CheckoutOrder): Provider {
  if (method === undefined) return providers[0]
  // To a buyer the till is no way to pay, as if it did not exist.
  const open = providers.filter(({ takenAtCounter }) => byStaff || !takenAtCounter)
  const provider = open.find(({ name }) => name === method)
  if (provider) return provider
  const known = open.map(({ name }) => name).join(', ')
  throw new Problem('INVALID_REQUEST', { errors: [{ path: '/method', message: `is none of: ${known}` }] })
}
