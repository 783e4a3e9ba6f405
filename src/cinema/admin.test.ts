// The administration through the door: a house from nothing, who may, layouts, price lists, blocks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Reply, type SmallHouse, smallHouse } from '#test/cinema/small-house.ts'

const told = ({ status, body }: Reply) => [status, body.code]
const showtime = (house: SmallHouse, change: object) => ({
  movieId: `movie_${house.movieId}`,
  screenId: `screen_${house.screenId}`,
  priceListId: `prices_${house.priceListId}`,
  ...change,
})

test('a house is built from nothing and sells a seat', async (t) => {
  const house = await smallHouse(t)
  const admin = await house.key('admin')
  const make = async (url: string, body: unknown) => {
    const made = await house.post(url, body, admin)
    assert.equal(made.status, 201, made.text)
    return made.body.id as string
  }
  const cityId = await make('/v1/admin/cities', { name: 'Hà Nội', country: 'VN' })
  const cinemaId = await make('/v1/admin/cinemas', {
    cityId,
    name: 'Rạp Mới',
    timeZone: 'Asia/Ho_Chi_Minh',
    currency: 'VND',
    categories: [{ code: 'VIP', name: 'VIP' }],
  })
  const screenId = await make(`/v1/admin/cinemas/${cinemaId}/screens`, {
    name: 'Phòng 1',
    patterns: [{ rows: 2, seatsPerRow: [3, 4], category: 'VIP', aislesAfter: [2] }],
  })
  const movieId = await make('/v1/admin/movies', { title: 'Đất rừng phương Nam', minutes: 100, language: 'vi' })
  const rules = [{ strategy: 'base_price', label: 'VIP', terms: { category: 'VIP', amountMinor: 95_000 } }]
  const priceListId = await make(`/v1/admin/cinemas/${cinemaId}/price-lists`, {
    name: 'Giá',
    taxBasisPoints: 500,
    rules,
  })
  const published = await house.post(
    '/v1/admin/showtimes',
    { movieId, screenId, priceListId, startsLocal: '2026-12-04T19:00' },
    admin,
  )
  assert.deepEqual(
    { ...published.body, id: '' },
    {
      id: '',
      startsAt: '2026-12-04T12:00:00.000000Z',
      startsLocal: '2026-12-04T19:00:00+07:00',
      businessDay: '2026-12-04',
    },
  )
  const found = await house.get('/v1/movies?q=dat%20rung&city=ha%20noi')
  assert.deepEqual(found.body.items[0].showtimes[0].priceFrom, { amount: 95_000, currency: 'VND' })
  const held = await house.post(`/v1/showtimes/${published.body.id}/holds`, { seats: ['B4'] }, house.customer())
  assert.deepEqual([held.status, held.body.amount], [201, { amount: 95_000, currency: 'VND' }])
})

test('every administrative door is closed without a key, and to keys without the role', async (t) => {
  const house = await smallHouse(t)
  const doors: ['POST' | 'PUT' | 'GET', string, object | undefined][] = [
    ['POST', '/v1/admin/cities', { name: 'X', country: 'XX' }],
    [
      'POST',
      '/v1/admin/cinemas',
      { cityId: 'city_1', name: 'X', timeZone: 'UTC', currency: 'EUR', categories: [{ code: 'A', name: 'A' }] },
    ],
    ['POST', '/v1/admin/movies', { title: 'X' }],
    [
      'POST',
      '/v1/admin/cinemas/cinema_1/screens',
      { name: 'X', patterns: [{ rows: 1, seatsPerRow: 1, category: 'A' }] },
    ],
    ['POST', '/v1/admin/screens/screen_1/layouts', { patterns: [{ rows: 1, seatsPerRow: 1, category: 'A' }] }],
    [
      'POST',
      '/v1/admin/cinemas/cinema_1/price-lists',
      { name: 'X', taxBasisPoints: 0, rules: [{ strategy: 'booking_fee', label: 'X', terms: {} }] },
    ],
    ['GET', '/v1/admin/price-lists/prices_1', undefined],
    [
      'PUT',
      '/v1/admin/price-lists/prices_1',
      { taxBasisPoints: 0, rules: [{ strategy: 'booking_fee', label: 'X', terms: {} }] },
    ],
    ['POST', '/v1/admin/showtimes', showtime(house, { startsLocal: '2026-12-04T10:00' })],
    ['POST', '/v1/admin/showtimes/show_1/block', { seats: ['A1'], reason: 'x' }],
    ['POST', '/v1/admin/showtimes/show_1/unblock', { seats: ['A1'] }],
  ]
  const callers: [Record<string, string>, number][] = [
    [{}, 401],
    [house.customer(), 403],
    [await house.key('partner'), 403],
    [await house.key('scanner'), 403],
  ].map(([headers, status]) => [
    { authorization: (headers as { authorization?: string }).authorization ?? '' },
    status as number,
  ])
  for (const [method, url, payload] of doors) {
    for (const [{ authorization }, status] of callers) {
      const headers = authorization ? { authorization } : {}
      const { statusCode } = await house.app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
      assert.equal(statusCode, status, `${method} ${url}`)
    }
  }
})

test('seats that make no layout are refused with each fault', async (t) => {
  const house = await smallHouse(t)
  const admin = await house.key('admin')
  const seat = { code: 'A1', row: 'A', number: '1', x: 0, y: 2, category: 'CLASSIC' }
  const send = (body: object) => house.post(`/v1/admin/screens/screen_${house.screenId}/layouts`, body, admin)
  const twice = await send({ seats: [seat, seat, { ...seat, code: 'A2', category: 'THRONE' }] })
  assert.deepEqual(told(twice), [422, 'LAYOUT_INVALID'])
  assert.deepEqual(twice.body.errors, [
    'seat 2 (A1) has the code of another seat',
    'seat 3 (A2) has the category THRONE, which the cinema does not have',
  ])
  assert.deepEqual(told(await send({ seats: [] })), [422, 'LAYOUT_INVALID'])
  assert.deepEqual(told(await send({})), [422, 'INVALID_REQUEST'])
  assert.deepEqual(told(await house.post('/v1/admin/screens/screen_999/layouts', { seats: [seat] }, admin)), [
    404,
    'NOT_FOUND',
  ])
})

test('names that are taken, zones and currencies that do not exist, price lists with holes', async (t) => {
  const house = await smallHouse(t)
  const admin = await house.key('admin')
  assert.deepEqual(told(await house.post('/v1/admin/cities', { name: 'Melbourne', country: 'AU' }, admin)), [
    409,
    'ALREADY_EXISTS',
  ])
  const cinema = {
    cityId: `city_${house.cityId}`,
    name: 'X',
    timeZone: 'Europe/Berlin',
    currency: 'EUR',
    categories: [{ code: 'A', name: 'A' }],
  }
  const wrong = await house.post(
    '/v1/admin/cinemas',
    { ...cinema, timeZone: 'Mars/Olympus', currency: 'ZZZ', cityId: 'city_999' },
    admin,
  )
  assert.deepEqual(
    wrong.body.errors.map((error: { path: string }) => error.path),
    ['/timeZone', '/currency', '/cityId'],
  )
  const rule = { strategy: 'base_price', label: 'Classic', terms: { category: 'CLASSIC', amountMinor: 1000 } }
  const send = (rules: object[]) =>
    house.post(`/v1/admin/cinemas/cinema_${house.cinemaId}/price-lists`, { name: 'P', taxBasisPoints: 0, rules }, admin)
  const hole = await send([rule])
  assert.deepEqual(
    [...told(hole), hole.body.detail],
    [422, 'PRICE_LIST_INVALID', 'category RECLINER needs exactly one base price and has 0'],
  )
  assert.deepEqual(told(await send([{ ...rule, terms: { category: 'CLASSIC', amountMinor: 12.5 } }])), [
    422,
    'PRICE_LIST_INVALID',
  ])
  assert.deepEqual(told(await send([{ ...rule, strategy: 'magic' }])), [422, 'INVALID_REQUEST'])
})

test('free seats are blocked with who and why, held ones are not, and unblocking puts them back', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const staff = await house.key('box_office')
  const block = (seats: string[]) => house.post(`/v1/admin/showtimes/${id}/block`, { seats, reason: 'Press' }, staff)
  const unblock = (seats: string[]) => house.post(`/v1/admin/showtimes/${id}/unblock`, { seats }, staff)
  assert.equal((await block(['D1', 'D2'])).status, 200)
  const [row] = await house.db.sql`select blocked_by, reason from seat_blocks where seat_code = 'D1'`
  assert.deepEqual({ ...row }, { blockedBy: 'box_office', reason: 'Press' })
  await house.post(`/v1/showtimes/${id}/holds`, { seats: ['D3'] }, house.customer())
  const refused = await block(['D3', 'D4'])
  assert.deepEqual([...told(refused), refused.body.seats], [409, 'SEATS_UNAVAILABLE', [{ code: 'D3', reason: 'held' }]])
  assert.deepEqual(told(await block([])), [422, 'NO_SEATS'])
  assert.deepEqual(told(await block(['D5', 'D5'])), [422, 'DUPLICATE_SEAT'])
  assert.deepEqual(told(await block(['Q1'])), [422, 'UNKNOWN_SEAT'])
  assert.equal((await unblock(['D1', 'D2'])).status, 200)
  assert.deepEqual(told(await unblock(['D1'])), [409, 'SEATS_UNAVAILABLE'])
  assert.equal((await house.post(`/v1/showtimes/${id}/holds`, { seats: ['D1'] }, house.customer())).status, 201)
})
