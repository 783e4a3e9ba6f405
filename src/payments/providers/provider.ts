// The seam between Holdfast and whoever takes the money. Nothing else in the product knows a provider's name or the shape of its messages.
import type { IncomingHttpHeaders } from 'node:http'
import type { App } from '#core/http.ts'
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'

export type SessionOrder = {
  /** Our public payment id (`pay_42_...`): the provider gives it back in its messages. */
  paymentId: string
  amountMinor: number
  currency: string
  /** What the buyer reads on the page. */
  description: string
  /** The provider must take no money from this moment on; it is before the end of the hold. */
  expiresAt: string
  /** Where the buyer goes afterwards. Whatever they bring along from there changes nothing. */
  returnUrl: string
  idempotencyKey: string
  /** What is to go wrong, for a provider that only rehearses; a real one does not look at it. */
  faults?: readonly string[]
}

/** `url` opens the payment: whoever has it can pay, so it is told to the owner only. */
export type OpenedSession = { providerPaymentId: string; url: string }

/** Money to move: the same `idempotencyKey` never moves it twice. */
export type MoveOrder = { providerPaymentId: string; amountMinor: number; currency: string; idempotencyKey: string }

/**
 * What the provider says is data; trouble on the way to it, or no answer in time, is thrown: then it is unknown what happened, and the same key is asked
 * again. PENDING: taken on, not finished; the same key is asked again later. FAILED: it was taken on and came to nothing, a new key may work.
 * REFUSED: no, and no repeat changes that. After the last two nothing has moved.
 */
export type MoveOutcome =
  | { outcome: 'DONE' | 'PENDING'; reference: string }
  | { outcome: 'FAILED' | 'REFUSED'; reason: string }

export type ProviderStatus = 'OPEN' | 'AUTHORISED' | 'CAPTURED' | 'DECLINED' | 'VOIDED' | 'EXPIRED'
/** One payment in the provider's own books. */
export type ProviderPayment = {
  providerPaymentId: string
  /** Our public payment id as it was given to them; null for what did not come from us. */
  paymentId: string | null
  /** OPEN and AUTHORISED may still change by the buyer or the provider; the others are its last word. */
  status: ProviderStatus
  amountMinor: number
  currency: string
  capturedMinor: number
  /** Paid back, without what is only taken on. */
  refundedMinor: number
  /** What the buyer wants back through their bank. */
  disputedMinor: number
}

/** Either of the two finds it: the provider's id is missing when the answer to `open` was lost. */
export type PaymentName = { providerPaymentId: string | null; paymentId: string }

/** What a message of the provider says, whoever the provider is. */
export type CallbackFacts = {
  /** The provider's own id of this message: a second delivery has the same one. */
  eventId: string
  /** AUTHORISED: reserved. CAPTURED: taken, also by our own capture. OTHER: nothing that concerns us. */
  kind:
    | 'AUTHORISED'
    | 'CAPTURED'
    | 'FAILED'
    | 'EXPIRED'
    | 'VOIDED'
    | 'REFUNDED'
    | 'REFUND_FAILED'
    | 'DISPUTED'
    | 'OTHER'
  providerPaymentId: string
  /** Our public payment id as the provider gives it back; null when the message has none. */
  paymentId: string | null
  amountMinor: number
  currency: string
  /** The idempotency key of our own call that made this happen; null when it happened at the provider. */
  movementKey: string | null
}

export interface Provider {
  readonly name: string
  /** The money is in the till already: such a payment is confirmed by the checkout itself, for staff only, and has no messages. */
  readonly takenAtCounter?: boolean
  open(order: SessionOrder): Promise<OpenedSession>
  /**
   * The facts of a message, from the very bytes that came. `now` is the database's time. Throws SIGNATURE_INVALID (unsigned, wrong, or too old) before
   * it reads anything, CALLBACK_UNREADABLE when what was signed makes no sense.
   */
  verify(rawBody: Buffer, headers: IncomingHttpHeaders, now: string): CallbackFacts
  /** Null when the provider does not know it. */
  lookUp(name: PaymentName): Promise<ProviderPayment | null>
  /** Every payment that was opened at the provider from `since` until before `until` (RFC 3339), in any order. */
  list(since: string, until: string): AsyncIterable<ProviderPayment>
  capture(order: MoveOrder): Promise<MoveOutcome>
  void(order: MoveOrder): Promise<MoveOutcome>
  refund(order: MoveOrder): Promise<MoveOutcome>
  /** Ends an unpaid session. No proof that nothing was paid: a message about money may still be under way. */
  expireSession(order: MoveOrder): Promise<MoveOutcome>
  /** What the provider itself serves and does in this process: the sandbox's pages and its messages. A real one does that elsewhere. */
  routes?(app: App): void
  workers?(sql: Sql, callbackUrl: string): Worker[]
}

/** All providers of this process; the first one takes payments whose buyer names no method. */
export type Providers = readonly [Provider, ...Provider[]]

export function findProvider(providers: Providers, name: string): Provider | undefined {
  return providers.find((provider) => provider.name === name)
}
