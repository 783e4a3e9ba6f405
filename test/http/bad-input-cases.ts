// What no client should send, by table: the request, and exactly what it is told. Kinds as in the corpus of the reliability plan.

export type BadInput = {
  name: string
  /** Method and address; {show}, {hold}, {bookedHold}, {booking}, {ticket} stand for real ids. */
  to: string
  /** Sent as JSON when it is an object, as it is when it is a text. */
  body?: unknown
  headers?: Record<string, string>
  /** By default a customer with a hold. */
  by?: 'customer' | 'nobody' | 'admin' | 'scanner'
  is: [status: number, code: string]
}

const hold = (name: string, body: unknown, status: number, code: string): BadInput => ({
  name: `hold: ${name}`,
  to: 'POST /v1/showtimes/{show}/holds',
  body,
  is: [status, code],
})
const seats = (name: string, list: unknown, status: number, code: string) => hold(name, { seats: list }, status, code)
const admin = (to: string, name: string, body: unknown, status: number, code: string): BadInput => ({
  name: `${to} ${name}`,
  to,
  body,
  by: 'admin',
  is: [status, code],
})
const manyCodes = (count: number) =>
  Array.from({ length: count }, (_, index) => `${'ABCDEF'[index % 6]}${Math.floor(index / 6) + 1}`)

export const SEAT_LISTS: BadInput[] = [
  seats('none', [], 422, 'NO_SEATS'),
  seats('nine', manyCodes(9), 422, 'TOO_MANY_SEATS'),
  seats('the whole hall', manyCodes(60), 422, 'TOO_MANY_SEATS'),
  seats(
    '1,001',
    Array.from({ length: 1001 }, () => 'A1'),
    422,
    'INVALID_REQUEST',
  ),
  seats('one twice', ['F5', 'F5'], 422, 'DUPLICATE_SEAT'),
  seats('one twice among others', ['F5', 'F6', 'F5'], 422, 'DUPLICATE_SEAT'),
  seats('unknown', ['Z99'], 422, 'UNKNOWN_SEAT'),
  seats('one of two unknown', ['F5', 'Z99'], 422, 'UNKNOWN_SEAT'),
  seats('lower case is another label', ['f5'], 422, 'UNKNOWN_SEAT'),
  seats('lower beside upper case', ['F5', 'f5'], 422, 'UNKNOWN_SEAT'),
  seats('a space before', [' F5'], 422, 'UNKNOWN_SEAT'),
  seats('a space after', ['F5 '], 422, 'UNKNOWN_SEAT'),
  seats('full width', ['Ｆ5'], 422, 'UNKNOWN_SEAT'),
  seats('zero width inside', ['F\u200b5'], 422, 'UNKNOWN_SEAT'),
  seats('right-to-left override', ['\u202eF5'], 422, 'UNKNOWN_SEAT'),
  seats('Cyrillic А', ['А1'], 422, 'UNKNOWN_SEAT'),
  seats('leading zero', ['F05'], 422, 'UNKNOWN_SEAT'),
  seats('emoji', ['🎬'], 422, 'UNKNOWN_SEAT'),
  seats('line break', ['F5\n'], 422, 'UNKNOWN_SEAT'),
  seats('SQL', ["F5'; drop table seats; --"], 422, 'UNKNOWN_SEAT'),
  seats('LIKE wildcard', ['F%'], 422, 'UNKNOWN_SEAT'),
  seats('array literal', ['{F5,F6}'], 422, 'UNKNOWN_SEAT'),
  seats('template', ['{{7*7}}'], 422, 'UNKNOWN_SEAT'),
  seats('path', ['../../etc/passwd'], 422, 'UNKNOWN_SEAT'),
  seats('html', ['<img src=x onerror=alert(1)>'], 422, 'UNKNOWN_SEAT'),
  seats('object property', ['__proto__'], 422, 'UNKNOWN_SEAT'),
  seats('object method', ['constructor', 'toString'], 422, 'UNKNOWN_SEAT'),
  seats('empty text', [''], 422, 'INVALID_REQUEST'),
  seats('65 letters', ['F'.repeat(65)], 422, 'INVALID_REQUEST'),
  seats('NUL', ['F5\0'], 422, 'INVALID_REQUEST'),
  seats('lone surrogate', ['F\ud800'], 422, 'INVALID_REQUEST'),
  seats('number', [5], 422, 'INVALID_REQUEST'),
  seats('null in the list', [null], 422, 'INVALID_REQUEST'),
  seats('list in the list', [['F5']], 422, 'INVALID_REQUEST'),
  seats('object in the list', [{ code: 'F5' }], 422, 'INVALID_REQUEST'),
  seats('a text, no list', 'F5', 422, 'INVALID_REQUEST'),
  seats('null', null, 422, 'INVALID_REQUEST'),
  seats('an object', { 0: 'F5' }, 422, 'INVALID_REQUEST'),
  hold('nothing asked', {}, 422, 'INVALID_REQUEST'),
  hold('both ways of asking', { seats: ['F5'], bestAvailable: { quantity: 1 } }, 422, 'INVALID_REQUEST'),
  hold('best of none', { bestAvailable: { quantity: 0 } }, 422, 'NO_SEATS'),
  hold('best of nine', { bestAvailable: { quantity: 9 } }, 422, 'TOO_MANY_SEATS'),
  hold('best of −1', { bestAvailable: { quantity: -1 } }, 422, 'INVALID_REQUEST'),
  hold('best of 1.5', { bestAvailable: { quantity: 1.5 } }, 422, 'INVALID_REQUEST'),
  hold('best of "2"', { bestAvailable: { quantity: '2' } }, 422, 'INVALID_REQUEST'),
  hold('best of 2⁵³', { bestAvailable: { quantity: 2 ** 53 } }, 422, 'INVALID_REQUEST'),
  hold('best without a number', { bestAvailable: {} }, 422, 'INVALID_REQUEST'),
  hold('best of an unknown category', { bestAvailable: { quantity: 2, category: 'THRONE' } }, 422, 'INVALID_REQUEST'),
  ...['price', 'amount', 'customerId', 'expiresAt', 'status', 'holdId', 'paid', 'ttlMs', 'tenantId', 'unitsMax'].map(
    (field) => hold(`SA6 sets ${field}`, { seats: ['F5'], [field]: 1 }, 422, 'INVALID_REQUEST'),
  ),
]

const method = (to: string): BadInput => ({ name: to, to, is: [405, 'METHOD_NOT_ALLOWED'] })

export const METHODS: BadInput[] = [
  ...[
    'PUT /v1/showtimes',
    'DELETE /v1/showtimes/{show}',
    'PATCH /v1/holds/{hold}',
    'PUT /v1/holds/{hold}',
    'GET /v1/sessions',
  ].map(method),
  ...[
    'GET /v1/showtimes/{show}/holds',
    'GET /v1/holds/{hold}/extend',
    'POST /livez',
    'DELETE /v1/cities',
    'POST /v1/openapi.json',
  ].map(method),
]

const withHeaders = (name: string, headers: Record<string, string>, status: number, code: string): BadInput => ({
  ...seats(name, ['F9'], status, code),
  headers,
})

export const HEADERS: BadInput[] = [
  withHeaders('key empty', { 'idempotency-key': '' }, 400, 'IDEMPOTENCY_KEY_INVALID'),
  withHeaders('key of 256', { 'idempotency-key': 'k'.repeat(256) }, 400, 'IDEMPOTENCY_KEY_INVALID'),
  withHeaders('key with a space', { 'idempotency-key': 'a b' }, 400, 'IDEMPOTENCY_KEY_INVALID'),
  withHeaders('two keys', { 'idempotency-key': 'a, b' }, 400, 'IDEMPOTENCY_KEY_INVALID'),
  withHeaders('key not ASCII', { 'idempotency-key': 'é' }, 400, 'IDEMPOTENCY_KEY_INVALID'),
  withHeaders('authorization empty', { authorization: '' }, 401, 'UNAUTHENTICATED'),
  withHeaders('authorization basic', { authorization: 'Basic YTpi' }, 401, 'UNAUTHENTICATED'),
  withHeaders('two tokens', { authorization: 'Bearer a, Bearer b' }, 401, 'UNAUTHENTICATED'),
  withHeaders('a JWT with alg none', { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }, 401, 'UNAUTHENTICATED'),
  withHeaders(
    'a session of our shape, forged',
    { authorization: `Bearer cs_a.9999999999.${'A'.repeat(43)}` },
    401,
    'UNAUTHENTICATED',
  ),
  withHeaders('an unknown key', { authorization: `Bearer hk_${'A'.repeat(43)}` }, 401, 'UNAUTHENTICATED'),
  withHeaders('charset', { 'content-type': 'application/json; charset=latin1' }, 415, 'UNSUPPORTED_MEDIA_TYPE'),
  withHeaders('type text', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'),
  withHeaders('type form', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'UNSUPPORTED_MEDIA_TYPE'),
  withHeaders(
    'packed',
    { 'content-type': 'application/gzip', 'content-encoding': 'gzip' },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ),
  { ...seats('nobody asks', ['F9'], 401, 'UNAUTHENTICATED'), by: 'nobody' },
  { ...seats('a scanner asks', ['F9'], 403, 'FORBIDDEN'), by: 'scanner' },
]

export const JSON_TEXTS: BadInput[] = [
  hold('cut', '{"seats":["F5"', 400, 'MALFORMED_BODY'),
  hold('trailing data', '{"seats":["F5"]}x', 400, 'MALFORMED_BODY'),
  hold('comment', '{"seats":["F5"]/*a*/}', 400, 'MALFORMED_BODY'),
  hold('trailing comma', '{"seats":["F5",]}', 400, 'MALFORMED_BODY'),
  hold('NaN', '{"bestAvailable":{"quantity":NaN}}', 400, 'MALFORMED_BODY'),
  hold('1e400', '{"bestAvailable":{"quantity":1e400}}', 422, 'INVALID_REQUEST'),
  hold('__proto__', '{"seats":["F5"],"__proto__":{"admin":true}}', 400, 'MALFORMED_BODY'),
  hold('constructor', '{"seats":["F5"],"constructor":{"prototype":{"admin":true}}}', 400, 'MALFORMED_BODY'),
  hold('10,000 levels', `{"seats":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 422, 'INVALID_REQUEST'),
  hold('1 MB', JSON.stringify({ seats: ['F'.repeat(1_000_000)] }), 413, 'BODY_TOO_LARGE'),
  hold('a list', '[]', 422, 'INVALID_REQUEST'),
  hold('a number', '5', 422, 'INVALID_REQUEST'),
  hold('empty', '', 422, 'INVALID_REQUEST'),
]

export const ADMIN: BadInput[] = [
  admin('POST /v1/admin/api-keys', 'no roles', { name: 'a', roles: [] }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/api-keys', 'unknown role', { name: 'a', roles: ['root'] }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/api-keys', 'a role twice', { name: 'a', roles: ['admin', 'admin'] }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/api-keys', 'no name', { name: '', roles: ['admin'] }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/api-keys', 'NUL in the name', { name: 'a\0', roles: ['admin'] }, 422, 'INVALID_REQUEST'),
  admin(
    'POST /v1/admin/api-keys',
    'sets the key',
    { name: 'a', roles: ['admin'], key: 'hk_mine' },
    422,
    'INVALID_REQUEST',
  ),
  admin('DELETE /v1/admin/api-keys/key_0', '', undefined, 404, 'NOT_FOUND'),
  admin('DELETE /v1/admin/api-keys/7', '', undefined, 404, 'NOT_FOUND'),
  admin('GET /v1/admin/api-keys?cursor=7', '', undefined, 422, 'INVALID_REQUEST'),
  admin('GET /v1/admin/worklist?status=LOST', '', undefined, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/worklist/work_999/resolve', '', undefined, 404, 'NOT_FOUND'),
  admin('POST /v1/admin/cities', 'country in small letters', { name: 'a', country: 'au' }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/cities', 'no country', { name: 'a' }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/movies', 'from 1800', { title: 'a', year: 1800 }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/movies', 'of −5 minutes', { title: 'a', minutes: -5 }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/movies', 'lone surrogate', { title: 'a\udc00' }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/showtimes/{show}/block', 'no seats', { seats: [], reason: 'a' }, 422, 'NO_SEATS'),
  admin('POST /v1/admin/showtimes/{show}/block', 'no reason', { seats: ['A1'], reason: '' }, 422, 'INVALID_REQUEST'),
  admin('POST /v1/admin/showtimes/{show}/block', 'unknown seat', { seats: ['Z9'], reason: 'a' }, 422, 'UNKNOWN_SEAT'),
  { ...admin('GET /v1/admin/api-keys', 'by a customer', undefined, 403, 'FORBIDDEN'), by: 'customer' },
  { ...admin('GET /v1/admin/api-keys', 'by nobody', undefined, 401, 'UNAUTHENTICATED'), by: 'nobody' },
  { ...admin('POST /v1/admin/movies', 'by a scanner', { title: 'a' }, 403, 'FORBIDDEN'), by: 'scanner' },
  { ...admin('POST /v1/admin/movies', 'by nobody, badly', { titel: 'a' }, 401, 'UNAUTHENTICATED'), by: 'nobody' },
]
