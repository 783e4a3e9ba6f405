// The real box-office feed: exact counts, and nothing new the second time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedFeed, FEED, type Feed } from '#test/cinema/real-feed.ts'
import { freshDatabase } from '#test/support/database.ts'
import { plainHall } from './feed/plain-hall.ts'
import { importCinemaFeed } from './import-feed.ts'
import { describeLayout } from './layout.ts'

test('the real feed: 159 sessions are 102 on sale, 33 cancelled and 24 reported with row, id and reason', async (t) => {
  const { sql } = await freshDatabase(t)
  const report = await importCinemaFeed(sql, FEED)
  assert.deepEqual(report.imported, { cinemas: 1, screens: 4, movies: 36, priceLists: 1, showtimes: 102 })
  assert.equal(report.cancelled, 33)
  assert.equal(report.skipped.length, 24)
  assert.ok(
    report.skipped.every((row) => row.section === 'Sessions' && /seats remain, but it started with/.test(row.reason)),
  )
  assert.deepEqual(report.skipped[0], {
    section: 'Sessions',
    row: (JSON.parse(FEED) as Feed).Sessions.findIndex((session) => session.Session_Index === 197467) + 1,
    id: '197467',
    reason: '136 seats remain, but it started with 112',
  })
  const [sold] = await sql<{ count: number }[]>`select count(*)::int as count from seats where status = 'BLOCKED'`
  const sound = (JSON.parse(FEED) as Feed).Sessions.filter((session) => !session.Session_Cancelled)
  const capacity: Record<string, number> = { 'Cinema 01': 99, 'Cinema 02': 77, 'Cinema 03': 126, 'Cinema 04': 140 }
  const soldElsewhere = sound
    .filter((session) => Number(session.Session_Seats_Remaining) <= Number(session.Session_Initial_Seats))
    .reduce(
      (sum, session) =>
        sum + (capacity[String(session.Session_Venue_Code)] ?? 0) - Number(session.Session_Seats_Remaining),
      0,
    )
  assert.equal(sold?.count, soldElsewhere, 'as many seats are off sale as the box office has sold')
})

test('importing twice changes nothing: no row differs, and the report says unchanged', async (t) => {
  const { sql } = await freshDatabase(t)
  await importCinemaFeed(sql, FEED)
  const state = () => sql`
    select (select jsonb_agg(i order by i.id) from inventories i) as inventories, (select jsonb_agg(s order by s.inventory_id) from showtimes s) as showtimes,
      (select jsonb_agg(m order by m.id) from movies m) as movies, (select count(*) from seats) as seats, (select count(*) from cities) as cities`
  const [before] = await state()
  const report = await importCinemaFeed(sql, FEED)
  assert.deepEqual(report.imported, { cinemas: 0, screens: 0, movies: 0, priceLists: 0, showtimes: 0 })
  assert.deepEqual(report.unchanged, { cinemas: 1, screens: 4, movies: 36, priceLists: 1, showtimes: 102 })
  assert.deepEqual((await state())[0], before)
})

test('a past session comes in as a sale that is over', async (t) => {
  const { sql } = await freshDatabase(t)
  await importCinemaFeed(sql, FEED)
  const [open] = await sql<
    { count: number }[]
  >`select count(*)::int as count from inventories where sale_closes_at > '2026-01-01'`
  assert.equal(open?.count, 0)
})

test('local times are read in the venue’s zone, prices with fee and included tax', async (t) => {
  const { sql } = await freshDatabase(t)
  await importCinemaFeed(sql, FEED)
  const [show] = await sql`
    select s.starts_at, s.ends_at, s.starts_local, s.business_day, c.time_zone, c.currency, p.tax_basis_points from showtimes s
    join cinemas c on c.id = s.cinema_id join price_lists p on p.id = s.price_list_id where s.external_id = 'pos:EXMETR:196234'`
  assert.deepEqual(
    { ...show },
    {
      startsAt: '2025-08-21T00:30:00.000000Z',
      endsAt: '2025-08-21T02:35:00.000000Z',
      startsLocal: '2025-08-21T10:30:00+10:00',
      businessDay: '2025-08-21',
      timeZone: 'Australia/Melbourne',
      currency: 'AUD',
      taxBasisPoints: 1000,
    },
  )
  const rules = await sql`select strategy, terms from price_rules order by position`
  assert.deepEqual(
    rules.map((rule) => ({ ...rule })),
    [
      { strategy: 'base_price', terms: { category: 'STANDARD', amountMinor: 1300 } },
      { strategy: 'booking_fee', terms: { amountMinor: 110 } },
    ],
  )
})

test('the sentinel is none: a film without a release date has no year', async (t) => {
  const { sql } = await freshDatabase(t)
  await importCinemaFeed(sql, FEED)
  const movies = await sql<{ title: string; year: number | null }[]>`
    select title, year from movies where title in ('Maharani', 'Weapons') order by title`
  assert.deepEqual(
    movies.map((movie) => [movie.title, movie.year]),
    [
      ['Maharani', null],
      ['Weapons', 2025],
    ],
  )
})

test('a newer feed never moves a published showtime or takes it away: it says so', async (t) => {
  const { sql } = await freshDatabase(t)
  await importCinemaFeed(sql, FEED)
  const report = await importCinemaFeed(
    sql,
    changedFeed(({ Sessions }) => {
      const at = (id: number) => Sessions.find((session) => session.Session_Index === id) ?? {}
      at(196234).Session_Date_Time = '20250821T103500'
      at(196721).Session_Cancelled = true
    }),
  )
  assert.match(
    report.skipped.find((row) => row.id === '196234')?.reason ?? '',
    /at another time; an import does not move it/,
  )
  assert.ok(
    report.notes.some((note) => note.startsWith('pos:EXMETR:196721 is cancelled in the feed and still on sale here')),
  )
  assert.equal(report.unchanged.showtimes, 100)
})

test('a plain hall has exactly its capacity, distinct seats, aisles, and is the same every time', () => {
  for (const capacity of [1, 9, 77, 99, 113, 126, 140, 300, 997]) {
    const seats = plainHall(capacity, 'STANDARD')
    assert.equal(seats.length, capacity)
    assert.equal(new Set(seats.map((seat) => seat.code)).size, capacity)
    assert.deepEqual(plainHall(capacity, 'STANDARD'), seats)
  }
  const three = describeLayout({
    screenId: 1,
    version: 1,
    width: 0,
    height: 0,
    focal: { x: 0, y: 0 },
    seats: plainHall(126, 'STANDARD'),
  })
  assert.equal(three.rows.length, 9)
  const codes = three.runs.map((run) => run.map((place) => three.seats[place]?.code).join(' '))
  assert.ok(codes.includes('F5 F6 F7 F8 F9 F10'), 'F5 to F8 are side by side in the middle')
})
