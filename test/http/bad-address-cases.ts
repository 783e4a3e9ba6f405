// Addresses no client should ask for: ids and query parameters that are none, by table.
import type { BadInput } from './bad-input-cases.ts'

const get = (to: string, status: number, code: string): BadInput => ({
  name: `get ${to}`,
  to: `GET ${to}`,
  is: [status, code],
})

const OTHER_NUMBERS = [
  ...[
    '0',
    '-1',
    '042',
    '1e3',
    '0x1',
    '1.0',
    '1 ',
    '+1',
    '９',
    '9007199254740993',
    '9223372036854775808',
    '99999999999999999999999',
  ],
  ...['', 'undefined', 'NaN', 'null', "1'--", '%00', '..%2f..', '1_2', '2147483648', '999999999999999'],
]

export const IDS: BadInput[] = [
  ...OTHER_NUMBERS.map((number) => get(`/v1/showtimes/show_${number}/seats`, 404, 'NOT_FOUND')),
  ...['42', 'SHOW_1', 'show-1', 'hold_1', 'show_', 'show', 'movie_1'].map((id) =>
    get(`/v1/showtimes/${id}`, 404, 'NOT_FOUND'),
  ),
  ...['0', '-1', '1e3', '99999999999999999999'].map((number) => get(`/v1/movies/movie_${number}`, 404, 'NOT_FOUND')),
  ...['0', '2147483648', "1'"].map((number) => get(`/v1/cinemas/cinema_${number}`, 404, 'NOT_FOUND')),
  ...[
    'hold_1',
    `hold_1_${'0'.repeat(31)}`,
    `hold_1_${'0'.repeat(33)}`,
    `hold_1_${'G'.repeat(32)}`,
    `hold_1_${'A'.repeat(32)}`,
    `hold_0_${'0'.repeat(32)}`,
    'hold_1_00000000-0000-0000-0000-000000000000',
    `hold_9007199254740993_${'0'.repeat(32)}`,
    `book_1_${'0'.repeat(32)}`,
    '00000000-0000-0000-0000-000000000000',
    'x'.repeat(101),
  ].flatMap((id) => [
    get(`/v1/holds/${id}`, 404, 'NOT_FOUND'),
    { ...get(`/v1/holds/${id}`, 404, 'NOT_FOUND'), to: `POST /v1/holds/${id}/extend` },
  ]),
  {
    name: 'hold in an unknown show',
    to: 'POST /v1/showtimes/show_999999/holds',
    body: { seats: ['F5'] },
    is: [404, 'NOT_FOUND'],
  },
]

export const QUERIES: BadInput[] = [
  ...[
    'limit=0',
    'limit=-1',
    'limit=101',
    'limit=1e2',
    'limit=10.5',
    'limit=',
    'limit=ten',
    'limit=99999999999999999999',
  ].map((query) => get(`/v1/showtimes?${query}`, 422, 'INVALID_REQUEST')),
  ...[
    'limit=1&limit=2',
    'limit[]=1',
    'limit[a]=1',
    'page=2',
    'sort=price',
    'cursor=a&cursor=b',
    '__proto__=1',
    'constructor=1',
  ].map((query) => get(`/v1/movies?${query}`, 422, 'INVALID_REQUEST')),
  ...['cursor=x', 'cursor=bnVsbA', 'cursor=W10', 'cursor=WyJhIiwxXQ', 'cursor=%00'].map((query) =>
    get(`/v1/showtimes?${query}`, 422, 'INVALID_REQUEST'),
  ),
  ...[
    '2026-02-30',
    '2026-13-01',
    '2026-1-1',
    '10000-01-01',
    'today',
    '2026-12-04T25:00',
    'infinity',
    '',
    '2026-12-04Z',
  ].map((date) => get(`/v1/showtimes?date=${date}`, 422, 'INVALID_REQUEST')),
  get('/v1/movies?q=%00', 422, 'INVALID_REQUEST'),
  get(`/v1/movies?q=${'x'.repeat(5000)}`, 422, 'INVALID_REQUEST'),
  get('/v1/showtimes/{show}/seats?view=everything', 422, 'INVALID_REQUEST'),
  get('/v1/showtimes/{show}/seats?view=full&view=status', 422, 'INVALID_REQUEST'),
  get('/v1/%E0%A4%A', 400, 'MALFORMED_URL'),
  get('/v1/showtimes/{show}/seats/', 404, 'NOT_FOUND'),
  get('//v1/showtimes', 404, 'NOT_FOUND'),
  get('/V1/showtimes', 404, 'NOT_FOUND'),
  get('/v1/../v1/admin', 404, 'NOT_FOUND'),
]
