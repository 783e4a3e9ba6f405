// What is on, through the door: search, lists, days of the programme, paging, prices from and free seats.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { smallHouse } from '#test/cinema/small-house.ts'
import { addCinema } from './add-cinema.ts'
import { addCity } from './add-city.ts'
import { addMovie } from './add-movie.ts'
import { addScreen } from './add-screen.ts'
import { countFreeSeats } from './count-free-seats.ts'
import { seatsOfPattern } from './row-pattern.ts'
import { addPriceList } from './write-price-list.ts'

test('a showtime says both clocks, its cheapest price, and how many seats are free', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show({ format: '3D', captions: true })
  const { status, body } = await house.get(`/v1/showtimes/${id}`)
  assert.equal(status, 200)
  assert.deepEqual(body, {
    id,
    status: 'SCHEDULED',
    movie: { id: `movie_${house.movieId}`, title: 'Léon: The Professional' },
    cinema: {
      id: `cinema_${house.cinemaId}`,
      name: 'Little House',
      city: { id: `city_${house.cityId}`, name: 'Melbourne' },
    },
    screen: { id: `screen_${house.screenId}`, name: 'Big' },
    startsAt: '2026-12-04T07:45:00.000000Z',
    endsAt: '2026-12-04T09:35:00.000000Z',
    startsLocal: '2026-12-04T18:45:00+11:00',
    timeZone: 'Australia/Melbourne',
    businessDay: '2026-12-04',
    format: '3D',
    language: null,
    captions: true,
    audioDescription: false,
    priceFrom: { amount: 1410, currency: 'AUD' },
    availability: { free: 60, total: 60, asOf: '2026-12-01T00:00:00.000000Z' },
  })
  assert.deepEqual((await house.get('/v1/showtimes')).body, { items: [body], nextCursor: null })
})

test('B074: "leon" finds Léon, two films of one name are two films, and a film that is not on is not listed', async (t) => {
  const house = await smallHouse(t)
  await house.show()
  const older = await addMovie(house.db.sql, { title: 'Léon: The Professional', year: 2026, minutes: 90 })
  await house.show({ movieId: older, startsLocal: '2026-12-05T11:00' })
  const notOn = await addMovie(house.db.sql, { title: 'Leonie', minutes: 80 })
  for (const q of ['leon', 'LÉON', 'professional léon', 'Leon: the']) {
    const { body } = await house.get(`/v1/movies?q=${encodeURIComponent(q)}`)
    assert.deepEqual(
      body.items.map((movie: { year: number }) => movie.year),
      [1994, 2026],
      q,
    )
  }
  for (const q of ['napoleon', '%25', '_', '…', 'x'.repeat(200)])
    assert.deepEqual((await house.get(`/v1/movies?q=${encodeURIComponent(q)}`)).body.items, [], q)
  const { body } = await house.get(`/v1/movies/movie_${notOn}`)
  assert.deepEqual([body.title, body.showtimes, body.showtimesTotal], ['Leonie', [], 0])
})

test('the city may be asked for by id or by name without accents; an unknown one finds nothing', async (t) => {
  const house = await smallHouse(t)
  await house.show()
  const { sql } = house.db
  const cityId = await addCity(sql, { name: 'Montréal', country: 'CA' })
  const cinemaId = await addCinema(sql, {
    cityId,
    name: 'Le Nord',
    timeZone: 'America/Toronto',
    currency: 'CAD',
    categories: [{ code: 'C', name: 'C' }],
  })
  const screenId = await addScreen(sql, {
    cinemaId,
    name: '1',
    seats: seatsOfPattern({ rows: 1, seatsPerRow: 5, category: 'C' }),
  })
  const rules = [{ strategy: 'base_price', label: 'C', terms: { category: 'C', amountMinor: 900 } }]
  const priceListId = await addPriceList(sql, { cinemaId, name: 'P', taxBasisPoints: 0, rules })
  const north = await house.show({ screenId, priceListId })
  for (const city of ['montreal', 'MONTR%C3%89AL', `city_${cityId}`]) {
    const { body } = await house.get(`/v1/showtimes?city=${city}`)
    assert.deepEqual(
      body.items.map((show: { id: string }) => show.id),
      [north],
      city,
    )
    assert.equal((await house.get(`/v1/movies?city=${city}`)).body.items[0].showtimesTotal, 1)
    assert.equal((await house.get(`/v1/cinemas?city=${city}`)).body.items.length, 1)
  }
  for (const city of ['Atlantis', 'city_999', 'city_0'])
    assert.deepEqual((await house.get(`/v1/showtimes?city=${city}`)).body.items, [])
  const { body } = await house.get('/v1/cities')
  assert.deepEqual(
    body.items.map((city: { name: string; cinemas: unknown[] }) => [city.name, city.cinemas.length]),
    [
      ['Melbourne', 1],
      ['Montréal', 1],
    ],
  )
  assert.deepEqual((await house.get(`/v1/cinemas/cinema_${cinemaId}`)).body.screens, [
    { id: `screen_${screenId}`, name: '1', seats: 5 },
  ])
})

test('B059: the show at 00:35 on Saturday stands under Friday, with its calendar date; a day that was asked for shows what has begun, too', async (t) => {
  const house = await smallHouse(t)
  const late = await house.show({ startsLocal: '2026-12-05T00:35' })
  const morning = await house.show({ startsLocal: '2026-12-05T10:00' })
  const ids = async (query: string) =>
    (await house.get(`/v1/showtimes?${query}`)).body.items.map((show: { id: string }) => show.id)
  // Friday 23:00 and Saturday 00:10 in Melbourne: the answer does not depend on the hour.
  for (const now of ['2026-12-04T12:00:00Z', '2026-12-04T13:10:00Z']) {
    await house.db.freezeClock(now)
    assert.deepEqual(await ids('date=2026-12-04'), [late])
    assert.deepEqual(await ids('date=2026-12-05'), [morning])
  }
  assert.match((await house.get(`/v1/showtimes/${late}`)).body.startsLocal, /^2026-12-05T00:35/)
  // A quarter of an hour after its start a show can no longer be bought.
  await house.db.freezeClock('2026-12-04T13:49:59Z')
  assert.deepEqual(await ids(''), [late, morning])
  await house.db.freezeClock('2026-12-04T13:50:00Z')
  assert.deepEqual(await ids(''), [morning])
  assert.deepEqual(await ids('date=2026-12-04'), [late])
})

test('B061: a show keeps its wall clock through the clock change, and its copy a week later has it too', async (t) => {
  const house = await smallHouse(t, {}, { timeZone: 'America/Denver' })
  const first = await house.show({ startsLocal: '2027-03-10T10:00' })
  const copy = await house.show({ startsLocal: '2027-03-17T10:00' })
  await house.db.freezeClock('2027-03-14T12:00:00Z')
  assert.equal((await house.get(`/v1/showtimes/${first}`)).body.startsLocal, '2027-03-10T10:00:00-07:00')
  assert.equal((await house.get(`/v1/showtimes/${copy}`)).body.startsLocal, '2027-03-17T10:00:00-06:00')
})

test('pages follow one another without a gap or a double, and a forged cursor is refused', async (t) => {
  const house = await smallHouse(t)
  const shows: string[] = []
  for (let day = 4; day < 11; day++)
    shows.push(await house.show({ startsLocal: `2026-12-${String(day).padStart(2, '0')}T18:45` }))
  // Two shows at one moment: the id decides their order.
  shows.splice(1, 0, await house.show({ screenId: house.strictScreenId, startsLocal: '2026-12-04T18:45' }))
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await house.get(`/v1/showtimes?limit=3${cursor}`)
    seen.push(...body.items.map((show: { id: string }) => show.id))
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
  } while (cursor !== '')
  assert.deepEqual(seen, shows)
  const forged = [
    'x',
    Buffer.from('["now",1]').toString('base64url'),
    Buffer.from('["2026-99-01T00:00:00.000000Z",1]').toString('base64url'),
    Buffer.from('["2026-12-01T00:00:00.000000Z",1.5]').toString('base64url'),
  ]
  for (const text of forged) {
    const { status, body } = await house.get(`/v1/showtimes?cursor=${text}`)
    assert.deepEqual([status, body.code], [422, 'INVALID_REQUEST'], text)
  }
})

test('films are paged by title; a list shows the next twelve times of a film and how many there are', async (t) => {
  const house = await smallHouse(t)
  for (let day = 4; day < 18; day++) await house.show({ startsLocal: `2026-12-${String(day).padStart(2, '0')}T18:45` })
  const second = await addMovie(house.db.sql, { title: 'Æon Flux', minutes: 93 })
  await house.show({ movieId: second, startsLocal: '2026-12-04T11:00' })
  const first = await house.get('/v1/movies?limit=1')
  assert.equal(first.body.items[0].title, 'Æon Flux')
  const { body } = await house.get(`/v1/movies?limit=1&cursor=${first.body.nextCursor}`)
  assert.deepEqual([body.items[0].showtimes.length, body.items[0].showtimesTotal, body.nextCursor], [12, 14, null])
  assert.equal((await house.get(`/v1/movies/movie_${house.movieId}`)).body.showtimes.length, 14)
})

test('free seats in a list are counted without lapsed holds', async (t) => {
  const house = await smallHouse(t)
  const id = await house.show()
  const held = await house.post(`/v1/showtimes/${id}/holds`, { seats: ['C1', 'C2'] }, house.customer())
  assert.equal(held.status, 201)
  const inventoryId = Number(id.slice(5))
  assert.equal((await countFreeSeats(house.db.sql, [inventoryId])).get(inventoryId)?.free, 58)
  await house.db.freezeClock(held.body.expiresAt)
  assert.equal((await countFreeSeats(house.db.sql, [inventoryId])).get(inventoryId)?.free, 60)
})

test('wrong questions are refused with the field, unknown things are 404', async (t) => {
  const house = await smallHouse(t)
  for (const url of [
    '/v1/showtimes?date=2026-02-30',
    '/v1/showtimes?date=today',
    '/v1/showtimes?day=2026-12-04',
    '/v1/movies?limit=0',
    '/v1/movies?limit=1000',
    '/v1/cinemas?q=x',
  ]) {
    const { status, body } = await house.get(url)
    assert.deepEqual([status, body.code, Array.isArray(body.errors)], [422, 'INVALID_REQUEST', true], url)
  }
  for (const url of [
    '/v1/showtimes/show_999',
    '/v1/showtimes/42',
    '/v1/movies/movie_0',
    '/v1/movies/film_1',
    '/v1/cinemas/cinema_999',
    '/v1/showtimes/show_999/seats',
  ]) {
    const { status, body } = await house.get(url)
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND'], url)
  }
})
