// Imports a house from its box-office system's feed: sound rows in, every other row reported with its place and reason. Twice changes nothing.
// Past sessions come in too, as sales that are over. The feed has no seat plans: each screen gets a plain hall of its capacity.
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { addCinema } from './add-cinema.ts'
import { addMovie } from './add-movie.ts'
import { addScreen } from './add-screen.ts'
import { plainHall } from './feed/plain-hall.ts'
import { type Publishing, publishSession, stillOnSale } from './feed/publish-session.ts'
import {
  type FeedHouse,
  type HouseOptions,
  readHouse,
  readMovies,
  readPriceLists,
  readScreens,
  SEAT_CATEGORY,
} from './feed/read-catalogue.ts'
import { type FeedSession, readSessions } from './feed/read-sessions.ts'
import type { Row, SkippedRow } from './feed/rows.ts'
import { addPriceList } from './write-price-list.ts'

type Counts = { cinemas: number; screens: number; movies: number; priceLists: number; showtimes: number }

export type FeedReport = {
  imported: Counts
  /** Here already, exactly so. */
  unchanged: Counts
  /** Sessions the feed itself calls off: not put on sale. */
  cancelled: number
  skipped: SkippedRow[]
  notes: string[]
}

export type FeedOptions = HouseOptions & {
  /** Moves all sessions by whole weeks, for a demonstration: weekday and wall clock stay. A moved session is another one than the original. */
  weeksLater?: number
}

const BUSINESS_DAY_STARTS = '06:00'

/** One transaction: a feed is in, or it is not. FEED_UNREADABLE when it is no feed, or lacks what the whole house depends on. */
export async function importCinemaFeed(sql: Sql, feedText: string, options: FeedOptions = {}): Promise<FeedReport> {
  return sql.begin((tx) => importFeed(tx, feedText, options)) as Promise<FeedReport>
}

export async function importFeed(tx: Tx, feedText: string, options: FeedOptions = {}): Promise<FeedReport> {
  const feed = parseFeed(feedText)
  const house = readHouse(feed, options)
  const weeksLater = options.weeksLater ?? 0
  const report: FeedReport = { imported: noCounts(), unchanged: noCounts(), cancelled: 0, skipped: [], notes: [] }
  const screens = readScreens(feed, report.skipped)
  const movies = readMovies(feed, house.timeZone, report.skipped)
  const priceLists = readPriceLists(feed, house.currency, report.skipped)
  const known = { screens, movies, priceLists, timeZone: house.timeZone, businessDayStarts: BUSINESS_DAY_STARTS }
  const { sessions, cancelled } = readSessions(feed, known, weeksLater, report.skipped)
  report.cancelled = cancelled.length

  const take = { tx, house, report }
  const cinemaId = await once(take, 'cinemas', '', (externalId) => addHouse(tx, house, externalId))
  const at: Publishing = {
    timeZone: house.timeZone,
    businessDayStarts: BUSINESS_DAY_STARTS,
    externalIdOf: (id) => externalIdOf(house, weeksLater === 0 ? id : `${id}+${weeksLater}w`),
    screens: new Map(),
    movies: new Map(),
    priceLists: new Map(),
  }
  for (const { code, name, capacity, singleSeatsRefused } of screens) {
    const seats = plainHall(capacity, SEAT_CATEGORY.code)
    const add = (externalId: string) => addScreen(tx, { cinemaId, name, seats, singleSeatsRefused, externalId })
    at.screens.set(code, await once(take, 'screens', code, add))
  }
  for (const { code, ...movie } of movies) {
    at.movies.set(code, await once(take, 'movies', code, (externalId) => addMovie(tx, { ...movie, externalId })))
  }
  for (const { code, name, rules } of priceLists) {
    const list = { cinemaId, name, taxBasisPoints: house.taxBasisPoints, rules }
    at.priceLists.set(
      code,
      await once(take, 'priceLists', code, (externalId) => addPriceList(tx, { ...list, externalId })),
    )
  }
  for (const session of sessions) {
    const done = await publishSession(tx, at, session)
    if (typeof done === 'string') report[done].showtimes++
    else report.skipped.push({ section: 'Sessions', row: session.row, id: session.id, reason: done.reason })
  }
  report.notes.push(...(await stillOnSale(tx, at, cancelled)))
  report.notes.push(...notes(feed, house, sessions))
  return report
}

const TABLES = { cinemas: 'cinemas', screens: 'screens', movies: 'movies', priceLists: 'price_lists' } as const

type Taking = { tx: Tx; house: FeedHouse; report: FeedReport }

// The id a row has here, made at the first import and found again at every later one.
async function once(
  { tx, house, report }: Taking,
  kind: keyof typeof TABLES,
  code: string,
  add: (externalId: string) => Promise<number>,
): Promise<number> {
  const externalId = externalIdOf(house, code)
  const [kept] = await tx<{ id: number }[]>`select id from ${tx(TABLES[kind])} where external_id = ${externalId}`
  report[kept ? 'unchanged' : 'imported'][kind]++
  return kept?.id ?? (await add(externalId))
}

async function addHouse(tx: Tx, house: FeedHouse, externalId: string): Promise<number> {
  const { city, country, name, timeZone, currency } = house
  const [row] = await tx<{ id: number }[]>`
    insert into cities (name, country) values (${city}, ${country})
    on conflict (country, name) do update set name = excluded.name returning id`
  if (!row) throw new Error('upsert into cities answered no row')
  const place = { cityId: row.id, timeZone, currency, businessDayStarts: BUSINESS_DAY_STARTS }
  return addCinema(tx, { ...place, name, categories: [SEAT_CATEGORY], externalId })
}

function notes(feed: Row, house: FeedHouse, sessions: FeedSession[]): string[] {
  const sold = sessions.filter((session) => session.soldElsewhere > 0)
  const types = Array.isArray(feed.Tickets) ? feed.Tickets.length : 0
  return [
    `The feed has no seat plans: each screen is a plain hall of its normal capacity.`,
    `The feed names no city: ${house.city} is taken. Times without a zone are read in ${house.timeZone}.`,
    `Of ${types} ticket types only the full price is sold.`,
    `${sold.length} sessions have seats sold in the box office; as many are blocked, from the front, because the feed does not say which.`,
  ]
}

function parseFeed(text: string): Row {
  try {
    const feed: unknown = JSON.parse(text)
    if (typeof feed === 'object' && feed !== null && !Array.isArray(feed)) return feed as Row
  } catch {}
  throw new Problem('FEED_UNREADABLE', { detail: 'The file is no JSON object.' })
}

function externalIdOf(house: FeedHouse, code: string): string {
  return code === '' ? `pos:${house.code}` : `pos:${house.code}:${code}`
}

function noCounts(): Counts {
  return { cinemas: 0, screens: 0, movies: 0, priceLists: 0, showtimes: 0 }
}
