// What a visitor may ask the programme for: city, cinema, film, day. One reading of it for all lists.
import type { Fragment } from 'postgres'
import { parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { foldText } from './fold-text.ts'
import { stillToCome } from './showtime.ts'

/** As it stands in the address: `city` is a public id (`city_2`) or a name, with or without accents; `date` a programme day of the venue. */
export type ProgrammeQuery = { city?: string; cinemaId?: string; movieId?: string; date?: string }

/** Ids; 0 is one that nothing has, so that an unknown city finds nothing instead of everything. */
export type ProgrammeFilter = {
  cityId: number | null
  cinemaId: number | null
  movieId: number | null
  date: string | null
}

/** INVALID_REQUEST on a day the calendar does not have. */
export async function readFilter(sql: Tx, query: ProgrammeQuery): Promise<ProgrammeFilter> {
  return {
    cityId: query.city === undefined ? null : await findCity(sql, query.city),
    cinemaId: query.cinemaId === undefined ? null : idOrNothing('cinema', query.cinemaId),
    movieId: query.movieId === undefined ? null : idOrNothing('movie', query.movieId),
    date: query.date === undefined ? null : calendarDay(query.date),
  }
}

/**
 * The filter as a condition on `showtimes s`, `cinemas c`. With a day: that whole day of the programme, also what has begun, because the day was asked for.
 * Without: what can still be bought.
 */
export function inProgramme(sql: Tx, { cityId, cinemaId, movieId, date }: ProgrammeFilter): Fragment {
  return sql`(${cityId}::bigint is null or c.city_id = ${cityId})
    and (${cinemaId}::bigint is null or s.cinema_id = ${cinemaId})
    and (${movieId}::bigint is null or s.movie_id = ${movieId})
    and ${date === null ? stillToCome(sql) : sql`s.status = 'SCHEDULED' and s.business_day = ${date}`}`
}

async function findCity(sql: Tx, text: string): Promise<number> {
  if (/^city_\d+$/.test(text)) return idOrNothing('city', text)
  const wanted = foldText(text)
  const cities = await sql<{ id: number; name: string }[]>`select id, name from cities order by id`
  return cities.find((city) => foldText(city.name) === wanted)?.id ?? 0
}

function idOrNothing(word: string, text: string): number {
  try {
    return parseNumbered(word, text)
  } catch (error) {
    if (error instanceof Problem) return 0
    throw error
  }
}

function calendarDay(text: string): string {
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' }).toString()
  } catch {
    throw new Problem('INVALID_REQUEST', { errors: [{ path: '/date', message: 'is no day of the calendar' }] })
  }
}
