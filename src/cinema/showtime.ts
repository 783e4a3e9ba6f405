// One show as every door needs it: film, house, screen, both clocks, layout and price list. The one select that all showtime reads share.
import type { Fragment } from 'postgres'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'

export type Showtime = {
  inventoryId: number
  movieId: number
  title: string
  cinemaId: number
  cinemaName: string
  cityId: number
  cityName: string
  screenId: number
  screenName: string
  /** Whether this screen refuses a choice that leaves a single seat alone. */
  singleSeatsRefused: boolean
  layoutVersion: number
  priceListId: number
  startsAt: string
  endsAt: string
  /** The venue's wall clock with that day's offset. */
  startsLocal: string
  businessDay: string
  timeZone: string
  currency: string
  format: '2D' | '3D' | 'IMAX'
  language: string | null
  captions: boolean
  audioDescription: boolean
  status: 'SCHEDULED' | 'CANCELLED'
}

// A show can be bought until a quarter of an hour after its start: people come late. Lists drop it then, and its inventory closes.
export const SALE_AFTER_START_MINUTES = 15

/** `where` and `tail` speak of s (showtimes), m (movies), c (cinemas), ci (cities). */
export function selectShowtimes(sql: Tx, where: Fragment, tail: Fragment): Promise<Showtime[]> {
  return sql<Showtime[]>`
    select s.inventory_id, s.movie_id, m.title, s.cinema_id, c.name as cinema_name, ci.id as city_id, ci.name as city_name,
      s.screen_id, sc.name as screen_name, sc.single_seats_refused, s.layout_version, s.price_list_id, s.starts_at, s.ends_at,
      s.starts_local, s.business_day, c.time_zone, c.currency, s.format, coalesce(s.language, m.language) as language,
      s.captions, s.audio_description, s.status
    from showtimes s
    join movies m on m.id = s.movie_id
    join cinemas c on c.id = s.cinema_id
    join cities ci on ci.id = c.city_id
    join screens sc on sc.id = s.screen_id
    where ${where} ${tail}`
}

/** NOT_FOUND when there is none. */
export async function readShowtime(sql: Tx, inventoryId: number): Promise<Showtime> {
  const [showtime] = await selectShowtimes(sql, sql`s.inventory_id = ${inventoryId}`, sql``)
  if (!showtime) throw new Problem('NOT_FOUND')
  return showtime
}

/** Whether a show can still be bought, as a condition on `showtimes s`; for lists only, what may be sold the inventory decides. */
export function stillToCome(sql: Tx): Fragment {
  return sql`s.status = 'SCHEDULED' and s.starts_at > holdfast_now() - make_interval(mins => ${SALE_AFTER_START_MINUTES})`
}
