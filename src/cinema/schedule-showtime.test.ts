// Putting shows on the schedule: overlaps, cleaning, races, clock changes, and the seats a show is published with.
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
