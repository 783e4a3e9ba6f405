// The programme by its showtimes, each with both clocks, its cheapest price and how full it is.

import { cutPage, readCursor } from '#core/cursor.ts'
import { formatNumbered } from '#core/ids.ts'
import type { Money } from '#core/money.ts'
import type { Sql } from '#database/connect.ts'
import type { Availability } from './count-free-seats.ts'
import type { Programme } from './programme.ts'
import { inProgramme, type ProgrammeQuery, readFilter } from './programme-filter.ts'
import { type Showtime, selectShowtimes } from './showtime.ts'

export type ShowtimeView = {
  id: string
  status: Showtime['status']
  movie: { id: string; title: string }
  cinema: { id: string; name: string; city: { id: string; name: string } }
  screen: { id: string; name: string }
  /** RFC 3339 UTC. */
  startsAt: string
  endsAt: string
  /** The venue's wall clock with that day's offset. */
  startsLocal: string
  timeZone: string
  businessDay: string
  format: Showtime['format']
  language: string | null
  captions: boolean
  audioDescription: boolean
  priceFrom: Money | null
  /** Display only: may be some seconds old, and says how old. */
  availability: Availability
}

export type Page<Item> = { items: Item[]; nextCursor: string | null }

export async function listShowtimes(
  parts: { sql: Sql; programme: Programme },
  query: ProgrammeQuery & { cursor?: string; limit: number },
): Promise<Page<ShowtimeView>> {
  const { sql } = parts
  const after = readCursor(query.cursor, ['time', 'id'])
  const filter = await readFilter(sql, query)
  const beyond =
    after === null ? sql`` : sql`and (s.starts_at, s.inventory_id) > (${after[0]}::timestamptz, ${after[1]}::bigint)`
  const found = await selectShowtimes(
    sql,
    sql`${inProgramme(sql, filter)} ${beyond}`,
    sql`order by s.starts_at, s.inventory_id limit ${query.limit + 1}`,
  )
  const page = cutPage(found, query.limit, (showtime) => [showtime.startsAt, showtime.inventoryId])
  return { items: await showShowtimes(parts.programme, page.rows), nextCursor: page.nextCursor }
}

/** Adds prices and free seats to showtimes, with one count for all of them. */
export async function showShowtimes(programme: Programme, showtimes: Showtime[]): Promise<ShowtimeView[]> {
  const free = await programme.availability(showtimes.map((showtime) => showtime.inventoryId))
  return Promise.all(
    showtimes.map(async (showtime) => showtimeView(showtime, await programme.priceFromMinor(showtime), free)),
  )
}

function showtimeView(showtime: Showtime, fromMinor: number | null, free: Map<number, Availability>): ShowtimeView {
  const { inventoryId, currency } = showtime
  const availability = free.get(inventoryId)
  if (!availability) throw new Error(`showtime ${inventoryId} has no inventory with seats`)
  return {
    id: formatNumbered('show', inventoryId),
    status: showtime.status,
    movie: { id: formatNumbered('movie', showtime.movieId), title: showtime.title },
    cinema: {
      id: formatNumbered('cinema', showtime.cinemaId),
      name: showtime.cinemaName,
      city: { id: formatNumbered('city', showtime.cityId), name: showtime.cityName },
    },
    screen: { id: formatNumbered('screen', showtime.screenId), name: showtime.screenName },
    startsAt: showtime.startsAt,
    endsAt: showtime.endsAt,
    startsLocal: showtime.startsLocal,
    timeZone: showtime.timeZone,
    businessDay: showtime.businessDay,
    format: showtime.format,
    language: showtime.language,
    captions: showtime.captions,
    audioDescription: showtime.audioDescription,
    priceFrom: fromMinor === null ? null : { amount: fromMinor, currency },
    availability,
  }
}
