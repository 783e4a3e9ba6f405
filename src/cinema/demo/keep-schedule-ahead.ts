// Adds what the demonstration's schedule lacks for the coming week, so that there is always something to buy. Run at every start; twice adds nothing.
import { readFileSync } from 'node:fs'
import type { Sql, Tx } from '#database/connect.ts'
import { importFeed } from '../import-feed.ts'
import { scheduleIfFree } from '../schedule-showtime.ts'
import { demoFilms } from './films.ts'
import { DEMO_HOUSES, type DemoHouse } from './houses.ts'

const FEED = new URL('../../../data/cinema/cinema_pos_feed_4_screens_8_days.json', import.meta.url)
// The feed's first week, Tuesday to Monday; its last two days repeat the weekdays of the first two.
const FEED_WEEK_BEGINS = Temporal.PlainDate.from('2025-08-19')
const FEED_CITY = 'Melbourne'
const FEED_ZONE = 'Australia/Melbourne'
// Today and the seven days after it.
const DAYS_AHEAD = 8
const DAY_STARTS = '06:00'
// Trailers and advertisements before the film.
const BEFORE_FILM_MINUTES = 15
const SCHEDULE_LOCK = 4_207_119

type Wanted = {
  externalId: string
  screenCode: string
  startsLocal: string
  film: number
  format: '2D' | '3D' | 'IMAX'
}

/** Answers how many showtimes were added; 0 in a database without the demonstration. `now` is RFC 3339. One transaction a house. */
export async function keepDemoScheduleAhead(sql: Sql, { now }: { now: string }): Promise<number> {
  const [demo] =
    await sql`select 1 from cinemas where external_id = any (${DEMO_HOUSES.map((house) => house.code)}::text[]) limit 1`
  if (!demo) return 0
  let added = await inTurn(sql, (tx) => addFeedHouse(tx, now))
  for (const house of DEMO_HOUSES) added += await inTurn(sql, (tx) => addHouseSchedule(tx, house, now))
  return added
}

// Two processes that start at once would both find the same showtimes missing.
async function inTurn(sql: Sql, work: (tx: Tx) => Promise<number>): Promise<number> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${SCHEDULE_LOCK})`
    return work(tx)
  }) as Promise<number>
}

// Each coming day takes the feed's day of the same weekday, moved by whole weeks.
async function addFeedHouse(tx: Tx, now: string): Promise<number> {
  const feed = JSON.parse(readFileSync(FEED, 'utf8')) as { Sessions: { Session_Accounting_Date: string }[] }
  const byWeeks = new Map<number, string[]>()
  for (const day of comingDays(now, FEED_ZONE)) {
    const weeks = Math.floor(FEED_WEEK_BEGINS.until(day).days / 7)
    const original = day.subtract({ weeks }).toString().replaceAll('-', '')
    byWeeks.set(weeks, [...(byWeeks.get(weeks) ?? []), original])
  }
  let added = 0
  for (const [weeksLater, days] of byWeeks) {
    const Sessions = feed.Sessions.filter((session) => days.includes(session.Session_Accounting_Date.slice(0, 8)))
    const report = await importFeed(tx, JSON.stringify({ ...feed, Sessions }), { weeksLater, city: FEED_CITY })
    added += report.imported.showtimes
  }
  return added
}

async function addHouseSchedule(tx: Tx, house: DemoHouse, now: string): Promise<number> {
  const films = demoFilms()
  const wanted = comingDays(now, house.timeZone).flatMap((day) => daySchedule(house, day, films.length))
  const ids = wanted.map((show) => show.externalId)
  const there = await tx<
    { externalId: string }[]
  >`select external_id from showtimes where external_id = any (${ids}::text[])`
  const known = new Set(there.map((row) => row.externalId))
  const movies = await idsOf(
    tx,
    'movies',
    films.map((film) => film.externalId),
  )
  const screens = await idsOf(
    tx,
    'screens',
    wanted.map((show) => show.screenCode),
  )
  const prices = await idsOf(tx, 'price_lists', [`${house.code}:prices`])
  const missing = wanted.filter((show) => !known.has(show.externalId))
  let added = 0
  for (const { externalId, screenCode, startsLocal, film, format } of missing) {
    // Somebody who tries the administration may have put a show of their own there.
    const inventoryId = await scheduleIfFree(tx, {
      movieId: movies.get(films[film]?.externalId ?? '') ?? 0,
      screenId: screens.get(screenCode) ?? 0,
      priceListId: prices.get(`${house.code}:prices`) ?? 0,
      minutes: (films[film]?.minutes ?? 0) + BEFORE_FILM_MINUTES,
      ...{ startsLocal, format, externalId },
    })
    if (inventoryId !== null) added += 1
  }
  return added
}

/** Films go round by day, screen and hour, the same for everybody who asks. */
function daySchedule(house: DemoHouse, day: Temporal.PlainDate, films: number): Wanted[] {
  const dayNumber = FEED_WEEK_BEGINS.until(day).days
  return house.screens.flatMap((screen, screenIndex) =>
    screen.starts.map((clock, slot) => {
      const startsLocal = `${day.add({ days: clock < DAY_STARTS ? 1 : 0 })}T${clock}`
      const film = (dayNumber * 5 + screenIndex * 7 + slot * 3) % films
      const screenCode = `${house.code}:${screen.name}`
      return { externalId: `${screenCode}:${startsLocal}`, screenCode, startsLocal, film, format: screen.format }
    }),
  )
}

function comingDays(now: string, timeZone: string): Temporal.PlainDate[] {
  const today = Temporal.Instant.from(now).toZonedDateTimeISO(timeZone).toPlainDate()
  return Array.from({ length: DAYS_AHEAD }, (_, days) => today.add({ days }))
}

async function idsOf(
  tx: Tx,
  table: 'movies' | 'screens' | 'price_lists',
  externalIds: string[],
): Promise<Map<string, number>> {
  const rows = await tx<{ id: number; externalId: string }[]>`
    select id, external_id from ${tx(table)} where external_id = any (${externalIds}::text[])`
  return new Map(rows.map((row) => [row.externalId, row.id]))
}
