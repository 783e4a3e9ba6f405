// What no client should send once money is involved: checkout, messages of a provider, bookings, tickets, the sandbox's page.
import type { BadInput } from './bad-input-cases.ts'

const KEY = { 'idempotency-key': 'bad-sale' }

const checkout = (
  name: string,
  body: unknown,
  status: number,
  code: string,
  headers: Record<string, string> = KEY,
): BadInput => ({
  name: `checkout: ${name}`,
  to: 'POST /v1/holds/{hold}/checkout',
  body,
  headers,
  is: [status, code],
})
const callback = (
  name: string,
  body: unknown,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): BadInput => ({
  name: `callback: ${name}`,
  to: 'POST /v1/payments/callback',
  body,
  headers,
  by: 'nobody',
  is: [status, code],
})
const cancel = (name: string, body: unknown, status: number, code: string): BadInput => ({
  name: `cancel: ${name}`,
  to: 'DELETE /v1/bookings/{booking}',
  body,
  is: [status, code],
})
const plain = (to: string, status: number, code: string, body?: unknown): BadInput => ({
  name: `${to} ${JSON.stringify(body) ?? ''}`,
  to,
  ...(body === undefined ? {} : { body }),
  is: [status, code],
})

const MESSAGE = JSON.stringify({ type: 'payment.authorised', data: { payment: 'pay_1_x', amount: 1 } })
const signed = (change: Record<string, string>) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': '1796083200',
  'webhook-signature': `v1,${'A'.repeat(43)}=`,
  ...change,
})

export const CHECKOUTS: BadInput[] = [
  checkout('no key', {}, 400, 'IDEMPOTENCY_KEY_REQUIRED', {}),
  checkout('empty key', {}, 400, 'IDEMPOTENCY_KEY_INVALID', { 'idempotency-key': '' }),
  checkout('key of 256', {}, 400, 'IDEMPOTENCY_KEY_INVALID', { 'idempotency-key': 'k'.repeat(256) }),
  checkout('key with a line break', {}, 400, 'IDEMPOTENCY_KEY_INVALID', { 'idempotency-key': 'a\tb' }),
  ...['', 'a', 'a@', '@b', 'a b@c', 'a@b@c', 'a@b c', 'a@b\n', `${'a'.repeat(250)}@b.cd`].map((email) =>
    checkout(`e-mail ${JSON.stringify(email).slice(0, 20)}`, { email }, 422, 'INVALID_REQUEST'),
  ),
  checkout('e-mail NUL', { email: 'a\0@b.c' }, 422, 'INVALID_REQUEST'),
  checkout('e-mail null', { email: null }, 422, 'INVALID_REQUEST'),
  checkout('name empty', { name: '' }, 422, 'INVALID_REQUEST'),
  checkout('name of 256', { name: 'x'.repeat(256) }, 422, 'INVALID_REQUEST'),
  checkout('name lone surrogate', { name: 'x\udfff' }, 422, 'INVALID_REQUEST'),
  checkout('name a number', { name: 5 }, 422, 'INVALID_REQUEST'),
  checkout('unknown method', { method: 'bitcoin' }, 422, 'INVALID_REQUEST'),
  checkout('method of the prototype', { method: '__proto__' }, 422, 'INVALID_REQUEST', { 'idempotency-key': 'other' }),
  ...[
    'amount',
    'price',
    'currency',
    'customerId',
    'status',
    'paid',
    'expiresAt',
    'seats',
    'bookingId',
    'cardNumber',
  ].map((field) => checkout(`SA6 sets ${field}`, { [field]: 1 }, 422, 'INVALID_REQUEST')),
  checkout('cut', '{"email":', 400, 'MALFORMED_BODY'),
  checkout('a list', [], 422, 'INVALID_REQUEST'),
  checkout('as a form', 'email=a%40b.c', 415, 'UNSUPPORTED_MEDIA_TYPE', {
    ...KEY,
    'content-type': 'application/x-www-form-urlencoded',
  }),
  plain(`POST /v1/holds/hold_1_${'0'.repeat(32)}/checkout`, 404, 'NOT_FOUND', {}),
  plain('POST /v1/holds/1/checkout', 404, 'NOT_FOUND', {}),
]

export const CALLBACKS: BadInput[] = [
  callback('nothing', undefined, 401, 'SIGNATURE_INVALID'),
  callback('no signature', MESSAGE, 401, 'SIGNATURE_INVALID'),
  callback('no JSON, no signature', 'hello', 401, 'SIGNATURE_INVALID'),
  callback('forged', MESSAGE, 401, 'SIGNATURE_INVALID', signed({})),
  callback('forged, short', MESSAGE, 401, 'SIGNATURE_INVALID', signed({ 'webhook-signature': 'v1,QQ==' })),
  callback('forged, no base64', MESSAGE, 401, 'SIGNATURE_INVALID', signed({ 'webhook-signature': 'v1,%%%%' })),
  callback('forged, other version', MESSAGE, 401, 'SIGNATURE_INVALID', signed({ 'webhook-signature': 'v9,QQ==' })),
  callback('forged, empty', MESSAGE, 401, 'SIGNATURE_INVALID', signed({ 'webhook-signature': '' })),
  callback('time a word', MESSAGE, 401, 'SIGNATURE_INVALID', signed({ 'webhook-timestamp': 'now' })),
  callback('time negative', MESSAGE, 401, 'SIGNATURE_INVALID', signed({ 'webhook-timestamp': '-1' })),
  callback('time beyond all', MESSAGE, 401, 'SIGNATURE_INVALID', signed({ 'webhook-timestamp': '9'.repeat(30) })),
  callback('id of 1,000', MESSAGE, 401, 'SIGNATURE_INVALID', signed({ 'webhook-id': 'x'.repeat(1000) })),
  callback('1 MB', 'x'.repeat(1_000_000), 413, 'BODY_TOO_LARGE', signed({})),
  {
    ...callback('', MESSAGE, 401, 'SIGNATURE_INVALID'),
    name: 'webhook: no signature',
    to: 'POST /v1/payments/webhook',
  },
  {
    ...callback('', MESSAGE, 401, 'SIGNATURE_INVALID'),
    name: 'sandbox: no signature',
    to: 'POST /v1/payments/sandbox/callback',
  },
  { ...callback('', MESSAGE, 404, 'NOT_FOUND'), name: 'unknown provider', to: 'POST /v1/payments/acme/callback' },
  {
    ...callback('', MESSAGE, 404, 'NOT_FOUND'),
    name: 'provider of the prototype',
    to: 'POST /v1/payments/constructor/callback',
  },
  plain('GET /v1/payments/callback', 405, 'METHOD_NOT_ALLOWED'),
  plain('PUT /v1/payments/sandbox/callback', 405, 'METHOD_NOT_ALLOWED'),
]

export const BOOKINGS: BadInput[] = [
  cancel('no lines', { lines: [] }, 422, 'INVALID_REQUEST'),
  cancel('line 0', { lines: [0] }, 422, 'INVALID_REQUEST'),
  cancel('line −1', { lines: [-1] }, 422, 'INVALID_REQUEST'),
  cancel('line 1.5', { lines: [1.5] }, 422, 'INVALID_REQUEST'),
  cancel('line 99', { lines: [99] }, 422, 'INVALID_REQUEST'),
  cancel('line 2⁵³', { lines: [2 ** 53] }, 422, 'INVALID_REQUEST'),
  cancel('a seat of somebody else', { lines: ['A1'] }, 422, 'INVALID_REQUEST'),
  cancel('one line twice', { lines: [1, 1] }, 422, 'INVALID_REQUEST'),
  cancel('101 lines', { lines: Array.from({ length: 101 }, (_, index) => index + 1) }, 422, 'INVALID_REQUEST'),
  cancel('sets the refund', { lines: [1], refund: 99 }, 422, 'INVALID_REQUEST'),
  cancel('NUL', { lines: ['F5\0'] }, 422, 'INVALID_REQUEST'),
  cancel('a text', '"all"', 422, 'INVALID_REQUEST'),
  ...['book_1', 'book_0_x', `book_1_${'0'.repeat(32)}`, `hold_1_${'0'.repeat(32)}`, 'ABC234'].flatMap((id) => [
    plain(`GET /v1/bookings/${id}`, 404, 'NOT_FOUND'),
    plain(`DELETE /v1/bookings/${id}`, 404, 'NOT_FOUND'),
    plain(`GET /v1/bookings/${id}/tickets`, 404, 'NOT_FOUND'),
    plain(`GET /v1/bookings/${id}/cancellation`, 404, 'NOT_FOUND'),
  ]),
  plain('DELETE /v1/holds/{bookedHold}', 409, 'ALREADY_BOOKED'),
  plain('POST /v1/holds/{bookedHold}/extend', 409, 'ALREADY_BOOKED'),
  plain('GET /v1/bookings?cursor=x', 422, 'INVALID_REQUEST'),
  plain('GET /v1/bookings?limit=0', 422, 'INVALID_REQUEST'),
  plain('GET /v1/bookings?customerId=cust_1', 422, 'INVALID_REQUEST'),
  plain('PATCH /v1/bookings/{booking}', 405, 'METHOD_NOT_ALLOWED'),
  plain('GET /v1/tickets/ticket_1/qr.svg', 404, 'NOT_FOUND'),
  plain(`GET /v1/tickets/ticket_1_${'0'.repeat(32)}/qr.png`, 404, 'NOT_FOUND'),
  plain('GET /v1/tickets/{ticket}/qr.gif', 404, 'NOT_FOUND'),
  { ...plain('GET /v1/bookings', 401, 'UNAUTHENTICATED'), name: 'bookings of nobody', by: 'nobody' },
  { ...plain('GET /v1/admin/bookings', 403, 'FORBIDDEN'), name: 'the search of staff, by a customer' },
  { ...plain('GET /v1/admin/bookings?status=LOST', 422, 'INVALID_REQUEST'), by: 'admin' },
]

export const SANDBOX: BadInput[] = [
  plain('GET /sandbox/pay/1', 404, 'NOT_FOUND'),
  plain(`POST /sandbox/pay/sbx_${'0'.repeat(32)}/pay`, 404, 'NOT_FOUND', {}),
  plain(`POST /sandbox/pay/sbx_${'0'.repeat(32)}/decline`, 404, 'NOT_FOUND'),
  plain('POST /sandbox/pay/{session}/pay', 422, 'INVALID_REQUEST', { fault: 'explode' }),
  plain('POST /sandbox/pay/{session}/pay', 422, 'INVALID_REQUEST', { callbackAfterMs: -1 }),
  plain('POST /sandbox/pay/{session}/pay', 422, 'INVALID_REQUEST', { amount: 1 }),
  plain('PUT /sandbox/pay/{session}/pay', 405, 'METHOD_NOT_ALLOWED', {}),
]
