// The administration through the door: a house from nothing, overlaps, clock changes, price lists, layouts, blocks.
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

test('B066: half-open ranges on a screen: touching is allowed, a minute of overlap and a surrounding show are not, a cancelled one is in nobody’s way', async (t) => {
  const house = await smallHouse(t)
  const admin = await house.key('admin')
  const publish = (startsLocal: string, minutes: number) =>
    house.post('/v1/admin/showtimes', showtime(house, { startsLocal, minutes }), admin)
  const first = await publish('2026-12-04T18:00', 120)
  assert.equal(first.status, 201)
  for (const [startsLocal, minutes] of [
    ['2026-12-04T19:59', 60],
    ['2026-12-04T17:00', 240],
    ['2026-12-04T17:00', 61],
    ['2026-12-04T18:30', 30],
    ['2026-12-04T18:00', 120],
  ] as const) {
    const refused = await publish(startsLocal, minutes)
    assert.deepEqual(told(refused), [409, 'SCREEN_BUSY'], startsLocal)
    assert.equal(refused.body.showtime.id, first.body.id)
    assert.equal(refused.body.showtime.startsLocal, '2026-12-04T18:00:00+11:00')
  }
  assert.equal((await publish('2026-12-04T20:00', 60)).status, 201)
  assert.equal((await publish('2026-12-04T17:00', 60)).status, 201)
  const other = await house.post(
    '/v1/admin/showtimes',
    showtime(house, { startsLocal: '2026-12-04T18:00', screenId: `screen_${house.strictScreenId}` }),
    admin,
  )
  assert.equal(other.status, 201, 'another screen')
  await house.db.sql`update showtimes set status = 'CANCELLED' where inventory_id = ${Number(first.body.id.slice(5))}`
  assert.equal((await publish('2026-12-04T18:00', 120)).status, 201)
})

test('B066: the cleaning time of the house is kept free after each show', async (t) => {
  const house = await smallHouse(t, {}, { cleaningMinutes: 15 })
  await house.show({ startsLocal: '2026-12-04T18:00', minutes: 120 })
  await assert.rejects(house.show({ startsLocal: '2026-12-04T20:14' }), { code: 'SCREEN_BUSY' })
  await assert.rejects(house.show({ startsLocal: '2026-12-04T16:00', minutes: 106 }), { code: 'SCREEN_BUSY' })
  await house.show({ startsLocal: '2026-12-04T20:15' })
  await house.show({ startsLocal: '2026-12-04T16:00', minutes: 105 })
})

test('two administrators who want one screen at once: one show, one SCREEN_BUSY', async (t) => {
  const house = await smallHouse(t)
  const admin = await house.key('admin')
  for (let day = 4; day < 14; day++) {
    const body = showtime(house, { startsLocal: `2026-12-${String(day).padStart(2, '0')}T18:00` })
    const answers = await Promise.all([1, 2, 3].map(() => house.post('/v1/admin/showtimes', body, admin)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409])
  }
})

test('a time the venue’s clock skips is refused, a doubled one must say which', async (t) => {
  const house = await smallHouse(t, {}, { timeZone: 'Europe/Berlin' })
  const admin = await house.key('admin')
  const publish = (change: object) =>
    house.post('/v1/admin/showtimes', showtime(house, { minutes: 20, ...change }), admin)
  const gap = await publish({ startsLocal: '2027-03-28T02:30' })
  assert.deepEqual([...told(gap), gap.body.reason], [422, 'LOCAL_TIME_INVALID', 'gap'])
  const doubled = await publish({ startsLocal: '2027-10-31T02:30' })
  assert.deepEqual([...told(doubled), doubled.body.reason], [422, 'LOCAL_TIME_INVALID', 'doubled'])
  assert.equal(
    (await publish({ startsLocal: '2027-10-31T02:30', which: 'earlier' })).body.startsAt,
    '2027-10-31T00:30:00.000000Z',
  )
  // The same wall clock an hour later is another show, and no overlap.
  assert.equal(
    (await publish({ startsLocal: '2027-10-31T02:30', which: 'later' })).body.startsLocal,
    '2027-10-31T02:30:00+01:00',
  )
  for (const startsLocal of ['2027-02-29T10:00', '2027-01-01T25:00'])
    assert.equal((await publish({ startsLocal })).body.code, 'LOCAL_TIME_INVALID', startsLocal)
  const late = await publish({ startsLocal: '2027-01-01T10:00', saleOpensLocal: '2027-01-01T10:15' })
  assert.deepEqual([...told(late), late.body.errors[0].path], [422, 'INVALID_REQUEST', '/saleOpensLocal'])
  for (const startsLocal of ['2027-01-01T10:00Z', 'tomorrow'])
    assert.equal((await publish({ startsLocal })).body.code, 'INVALID_REQUEST', startsLocal)
})

test('a showtime keeps the seats it was published with when the screen gets a new layout', async (t) => {
  const house = await smallHouse(t)
  const admin = await house.key('admin')
  const old = await house.show()
  const seats = [
    { code: 'X1', row: 'X', number: '1', x: 0, y: 2, category: 'CLASSIC' },
    { code: 'X2', row: 'X', number: '2', x: 1, y: 2, category: 'CLASSIC', kind: 'ACCESSIBLE' },
  ]
  const made = await house.post(`/v1/admin/screens/screen_${house.screenId}/layouts`, { seats }, admin)
  assert.deepEqual([made.status, made.body], [201, { screenId: `screen_${house.screenId}`, version: 2 }])
  const fresh = await house.show({ startsLocal: '2026-12-05T18:45' })
  assert.equal((await house.get(`/v1/showtimes/${old}/seats`)).body.seats.length, 60)
  assert.deepEqual(
    (await house.get(`/v1/showtimes/${fresh}/seats`)).body.seats.map((seat: { code: string }) => seat.code),
    ['X1', 'X2'],
  )
  await assert.rejects(
    house.db.sql`update layout_seats set seat_code = 'X9' where seat_code = 'X1'`,
    /a layout never changes/,
  )
  await assert.rejects(house.db.sql`delete from layouts`, /a layout never changes/)
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
