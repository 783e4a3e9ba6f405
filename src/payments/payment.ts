// One attempt to take money, as the verbs read it.
import type { Tx } from '#database/connect.ts'

export type PaymentStatus = 'CREATED' | 'AUTHORISED' | 'CAPTURED' | 'REFUNDED' | 'FAILED' | 'EXPIRED' | 'VOIDED'

export type Payment = {
  inventoryId: number
  id: string
  bookingId: string
  provider: string
  /** Null until the provider has answered the opening of its session. */
  providerPaymentId: string | null
  paymentUrl: string | null
  /** REFUNDED: everything that was captured went back; a part of it leaves it CAPTURED. */
  status: PaymentStatus
  /** Whether this is the payment that pays for its booking. */
  pays: boolean
  amountMinor: number
  currency: string
  capturedMinor: number
  refundedMinor: number
  sessionExpiresAt: string
}

/** Its status is only sure while the inventory is locked. */
export async function findPayment(tx: Tx, inventoryId: number, id: string): Promise<Payment | null> {
  const [row] = await tx<Payment[]>`
    select inventory_id, id, booking_id, provider, provider_payment_id, payment_url, status, pays, amount_minor, currency, captured_minor,
      refunded_minor, session_expires_at
    from payments where inventory_id = ${inventoryId} and id = ${id}`
  return row ?? null
}

/** The attempt a buyer can still use, if there is one: a booking never has two. */
export async function findOpenPayment(tx: Tx, inventoryId: number, bookingId: string): Promise<Payment | null> {
  const [row] = await tx<Payment[]>`
    select inventory_id, id, booking_id, provider, provider_payment_id, payment_url, status, pays, amount_minor, currency, captured_minor,
      refunded_minor, session_expires_at
    from payments where inventory_id = ${inventoryId} and booking_id = ${bookingId} and status = 'CREATED'`
  return row ?? null
}
