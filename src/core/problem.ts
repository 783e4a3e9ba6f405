// Every expected refusal of the product: one table of stable codes, and the exception that carries one to the door (RFC 9457).

/** code -> [HTTP status, sentence]. Sorted by area; the sentence says the fact, and the remedy where there is one. */
export const PROBLEMS = {
  // the request itself
  INVALID_REQUEST: [422, 'The request does not fit its description.'],
  MALFORMED_URL: [400, 'The address is not readable: its percent-encoding is broken.'],
  MALFORMED_HTTP: [400, 'The bytes received are not HTTP.'],
  MALFORMED_BODY: [400, 'The body is not readable JSON.'],
  BODY_TOO_LARGE: [413, 'The body is larger than this server accepts.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Send the body as application/json.'],
  METHOD_NOT_ALLOWED: [405, 'This address exists, but not with this method.'],
  NOT_FOUND: [404, 'There is nothing here, or it is not yours.'],
  // who is asking
  UNAUTHENTICATED: [401, 'Open a session (POST /v1/sessions) or send an API key as Bearer.'],
  FORBIDDEN: [403, 'Your key does not have the role this needs.'],
  LAST_ADMIN_KEY: [409, 'This is the last admin key; make another before revoking it.'],
  CROSS_ORIGIN: [403, 'A request that changes something and carries a cookie must come from this site.'],
  // repeating
  IDEMPOTENCY_KEY_REQUIRED: [400, 'Send an Idempotency-Key header, so that a repeat cannot act twice.'],
  IDEMPOTENCY_KEY_INVALID: [400, 'An Idempotency-Key has 1 to 255 visible ASCII characters.'],
  IDEMPOTENCY_KEY_REUSED: [422, 'This Idempotency-Key was used for another request.'],
  IDEMPOTENCY_IN_PROGRESS: [409, 'The first request with this Idempotency-Key is still running; repeat it shortly.'],
  // holding
  NO_SEATS: [422, 'Name at least one seat.'],
  UNKNOWN_SEAT: [422, 'The layout has no such seat.'],
  DUPLICATE_SEAT: [422, 'A seat is named twice.'],
  TOO_MANY_SEATS: [422, 'More seats than one hold may have.'],
  CUSTOMER_SEAT_LIMIT: [422, 'More seats than one customer may have for this showtime, holds and bookings together.'],
  LEAVES_SINGLE_SEAT: [422, 'This choice would leave a single seat alone.'],
  NOT_ENOUGH_SEATS: [409, 'There are not so many free seats side by side.'],
  SEATS_UNAVAILABLE: [409, 'Some of the seats are not free.'],
  SALE_CLOSED: [410, 'The sale is over.'],
  SALE_NOT_OPEN: [409, 'The sale has not begun.'],
  HOLD_CYCLING: [429, 'These seats were held and given up again and again from here; choose others, or wait.'],
  TOO_MANY_ATTEMPTS: [429, 'Too many attempts; wait before the next one.'],
  ADMISSION_REQUIRED: [403, 'This show has a waiting room: join it, and come back when you are admitted.'],
  WAITING_ROOM_NEEDS_REDIS: [
    409,
    'Several processes without REDIS_URL cannot share a waiting room; set it, or run one process.',
  ],
  WAITING_ROOM_UNAVAILABLE: [503, 'The waiting room does not answer; your place is kept, repeat it shortly.'],
  WAITING_ROOM_OPENED: [409, 'The waiting room is open already; switch it off to begin with a new pre-queue.'],
  WAITING_ROOM_NOT_OPENED: [409, 'The draw has not been made yet.'],
  TOO_MANY_STREAMS: [429, 'Too many open streams from your address; close one, or ask again and again instead.'],
  OVERLOADED: [503, 'Too many requests at this moment; repeat it shortly.'],
  HOLD_EXPIRED: [410, 'The hold has run out.'],
  HOLD_RELEASED: [410, 'The hold was released.'],
  HOLD_CHECKED_OUT: [409, 'The hold is being paid; it cannot be changed now.'],
  EXTENSION_LIMIT: [409, 'The hold cannot be extended any further.'],
  ALREADY_BOOKED: [409, 'The hold is a booking already; cancel the booking instead.'],
  // the cinema's programme
  ALREADY_EXISTS: [409, 'There is one of this name already.'],
  SCREEN_BUSY: [409, 'Another show is on this screen at that time.'],
  LOCAL_TIME_INVALID: [422, 'The clock of the venue does not have this time, or has it twice.'],
  LAYOUT_INVALID: [422, 'These seats make no layout.'],
  PRICE_LIST_INVALID: [422, 'This price list cannot price every seat.'],
  FEED_UNREADABLE: [422, 'This is no feed that can be imported.'],
  // promotions
  PROMO_CODE_INVALID: [422, 'This promo code does not fit this order.'],
  PROMO_CODE_USED_UP: [409, 'This promo code has been used as often as it may be.'],
  VOUCHER_INVALID: [422, 'There is no such gift voucher, or it does not fit this order.'],
  VOUCHER_EMPTY: [409, 'Nothing is left on this gift voucher.'],
  // paying
  PAYMENT_PROVIDER_UNAVAILABLE: [502, 'The payment provider does not answer; your seats stay held, try again.'],
  SIGNATURE_INVALID: [401, 'The signature does not fit, or is too old.'],
  CALLBACK_UNREADABLE: [400, 'The callback cannot be read.'],
  PAYMENT_NOT_OPEN: [409, 'This payment is over.'],
  SETTLEMENT_NOT_STUCK: [409, 'This settlement is not stuck; it needs nobody.'],
  // bookings
  NOT_CANCELLABLE: [409, 'The booking cannot be cancelled.'],
  NO_TICKETS: [409, 'The booking has no tickets: they come a second after the payment, and go when it is cancelled.'],
  NO_ADDRESS: [409, 'The booking has no e-mail address.'],
  MAIL_OFF: [409, 'This installation sends no e-mail.'],
  // webhooks
  WEBHOOK_URL_REFUSED: [422, 'A webhook needs an https address on the public internet.'],
  WEBHOOK_LIMIT: [409, 'One key cannot have more webhooks.'],
  // ours
  INTERNAL: [500, 'Something broke on our side; the request id finds it in the log.'],
  DATABASE_UNAVAILABLE: [503, 'The database does not answer; repeat the request shortly.'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof PROBLEMS

/** What is said beside the code: `seats`, `limit`, `retryAfterSeconds`, `detail` (a sentence instead of the table's) ... */
export type ProblemFacts = { detail?: string; retryAfterSeconds?: number; [fact: string]: unknown }

/** Thrown inside a transaction it rolls the transaction back by itself. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly facts: ProblemFacts

  constructor(code: ProblemCode, facts: ProblemFacts = {}) {
    // An expected refusal needs no stack, and under a rush most answers are refusals: capturing one costs as much as deciding.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(facts.detail ?? PROBLEMS[code][1])
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'Problem'
    this.code = code
    this.status = PROBLEMS[code][0]
    this.facts = facts
  }

  /** The RFC 9457 document. */
  toDocument(requestId: string): Record<string, unknown> {
    const { detail, ...facts } = this.facts
    return {
      type: `urn:holdfast:problem:${this.code.toLowerCase().replaceAll('_', '-')}`,
      title: PROBLEMS[this.code][1],
      status: this.status,
      code: this.code,
      ...(detail === undefined ? {} : { detail }),
      ...facts,
      requestId,
    }
  }
}
