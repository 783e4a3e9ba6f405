// The demonstration: there in seconds, once, in four cities and currencies, and always ahead.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '#test/support/database.ts'
import { importCinemaFeed } from '../import-feed.ts'
import { scheduleShowtime } from '../schedule-showtime.ts'
import { keepDemoScheduleAhead } from './keep-schedule-ahead.ts'
import { loadDemoData } from './load-demo-data.ts'

const NOW = '2026-12-04T09:00:00Z'

test('the first load takes under 10 s; the second start adds nothing; a day later one more day is there', async (t) => {
  const { sql } = await freshDatabase(t)
  const began = performance.now()
  const first = await loadDemoData(sql, { now: NOW })
  const tookMs = performance.now() - began
  assert.ok(first.loaded && first.showtimes > 200, JSON.stringify(first))
  assert.ok(tookMs < 10_000, `${tookMs} ms`)
  t.diagnostic(`${first.showtimes} showtimes in ${Math.round(tookMs)} ms`)
  assert.deepEqual(await loadDemoData(sql, { now: NOW }), { loaded: false, showtimes: 0 })
  const later = await keepDemoScheduleAhead(sql, { now: '2026-12-05T09:00:00Z' })
  assert.ok(later > 0 && later < first.showtimes / 4, String(later))
})

test('every invented house plays on each of the coming seven days, the real one on six; four currencies, four zones, varied seats', async (t) => {
  const { sql } = await freshDatabase(t)
  await loadDemoData(sql, { now: NOW })
  const houses = await sql<{ city: string; currency: string; timeZone: string; days: number; kinds: string[] }[]>`
    select ci.name as city, c.currency, c.time_zone, count(distinct s.business_day)::int as days,
      array(select distinct l.kind from layout_seats l join screens sc on sc.id = l.screen_id where sc.cinema_id = c.id order by 1) as kinds
    from showtimes s join cinemas c on c.id = s.cinema_id join cities ci on ci.id = c.city_id
    where s.business_day between '2026-12-04' and '2026-12-10' group by c.id, ci.id order by ci.name`
  assert.deepEqual(
    houses.map((house) => [house.city, house.currency, house.timeZone, house.days, house.kinds.join()]),
    [
      ['Berlin', 'EUR', 'Europe/Berlin', 7, 'ACCESSIBLE,COMPANION,NORMAL'],
      ['Hanoi', 'VND', 'Asia/Ho_Chi_Minh', 7, 'ACCESSIBLE,COMPANION,COUPLE,NORMAL'],
      ['Melbourne', 'AUD', 'Australia/Melbourne', 6, 'ACCESSIBLE,COMPANION,NORMAL'],
      ['Tokyo', 'JPY', 'Asia/Tokyo', 7, 'ACCESSIBLE,COMPANION,NORMAL'],
    ],
  )
})

test('the real house keeps weekday and wall clock, also across its clock change, and Cinema Three has F5 to F8 free', async (t) => {
  const { sql } = await freshDatabase(t)
  // Melbourne goes to summer time on 4 October 2026.
  await loadDemoData(sql, { now: '2026-10-01T00:00:00Z' })
  const [show] = await sql`select starts_local, business_day from showtimes where external_id = 'pos:EXMETR:196739+58w'`
  assert.deepEqual({ ...show }, { startsLocal: '2026-10-04T11:00:00+11:00', businessDay: '2026-10-04' })
  const [free] = await sql<{ count: number }[]>`
    select count(*)::int as count from showtimes s join screens sc on sc.id = s.screen_id
    where sc.name = 'Cinema Three' and 4 = (select count(*) from seats x where x.inventory_id = s.inventory_id
      and x.seat_code in ('F5', 'F6', 'F7', 'F8') and x.status = 'AVAILABLE')`
  assert.ok((free?.count ?? 0) > 10)
})

test('two processes that start at once load one demonstration', async (t) => {
  const { sql, connect } = await freshDatabase(t)
  const results = await Promise.all([loadDemoData(sql, { now: NOW }), loadDemoData(connect(2), { now: NOW })])
  assert.equal(results.filter((result) => result.loaded).length, 1)
  const [twice] = await sql<{ count: number }[]>`
    select count(*)::int as count from (select screen_id, starts_at from showtimes group by 1, 2 having count(*) > 1) x`
  assert.equal(twice?.count, 0)
})

test('a database with cinemas of its own gets no demonstration', async (t) => {
  const { sql } = await freshDatabase(t)
  await importCinemaFeed(
    sql,
    '{"Installation":{"Installation_Name":"Own","Installation_Country":"Australia","Installation_Code":"OWN","Misc_Tax_Rate":10}}',
    { timeZone: 'Australia/Perth' },
  )
  assert.deepEqual(await loadDemoData(sql, { now: NOW }), { loaded: false, showtimes: 0 })
})

test('a show that somebody put on a screen of the demonstration stays, and the schedule goes on around it', async (t) => {
  const { sql } = await freshDatabase(t)
  await loadDemoData(sql, { now: NOW })
  const [screen] = await sql<{ screenId: number; priceListId: number; movieId: number }[]>`
    select s.screen_id, s.price_list_id, s.movie_id from showtimes s join screens sc on sc.id = s.screen_id where sc.name = 'Saal 1' limit 1`
  assert.ok(screen)
  await sql.begin((tx) => scheduleShowtime(tx, { ...screen, startsLocal: '2026-12-12T10:00' }))
  assert.ok((await keepDemoScheduleAhead(sql, { now: '2026-12-05T09:00:00Z' })) > 20)
})
