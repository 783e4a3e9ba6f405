// What is on: films with the showtimes that fit the question. Searching does not mind accents, case or signs: 'leon' finds 'Léon'.

import { cutPage, readCursor } from '#core/cursor.ts'
import { formatNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { searchPatterns } from './fold-text.ts'
import { type Page, type ShowtimeView, showShowtimes } from './list-showtimes.ts'
import type { Programme } from './programme.ts'
import { inProgramme, type ProgrammeFilter, type ProgrammeQuery, readFilter } from './programme-filter.ts'
import { type Showtime, selectShowtimes } from './showtime.ts'

export type MovieView = {
  id: string
  title: string
  year: number | null
  language: string | null
  minutes: number | null
  certificate: string | null
  genres: string[]
  cast: string[]
  /** The next ones that fit the question, earliest first. */
  showtimes: ShowtimeView[]
  /** How many fit it in all. */
  showtimesTotal: number
}

type Movie = Omit<MovieView, 'id' | 'cast' | 'showtimes' | 'showtimesTotal'> & {
  id: number
  castNames: string[]
  sortText: string
}
type Parts = { sql: Sql; programme: Programme }

// A page of films stays one screenful of times each; a film's own page shows them all.
const SHOWTIMES_PER_MOVIE_LISTED = 12
const SHOWTIMES_PER_MOVIE_MAX = 200

/** By title. Only films with a showtime that fits; a search without any letter or digit finds nothing. */
export async function searchMovies(
  parts: Parts,
  query: ProgrammeQuery & { q?: string; cursor?: string; limit: number },
): Promise<Page<MovieView>> {
  const { sql } = parts
  const after = readCursor(query.cursor, ['text', 'id'])
  const filter = await readFilter(sql, query)
  const patterns = query.q === undefined ? null : searchPatterns(query.q)
  if (patterns?.length === 0) return { items: [], nextCursor: null }
  const named = patterns === null ? sql`` : sql`and m.search_text like all (${patterns}::text[])`
  const beyond = after === null ? sql`` : sql`and (m.search_text, m.id) > (${after[0]}, ${after[1]}::bigint)`
  const found = await sql<Movie[]>`
    select m.id, m.title, m.year, m.language, m.minutes, m.certificate, m.genres, m.cast_names, m.search_text as sort_text
    from movies m
    where exists (select 1 from showtimes s join cinemas c on c.id = s.cinema_id where s.movie_id = m.id and ${inProgramme(sql, filter)})
      ${named} ${beyond}
    order by m.search_text, m.id limit ${query.limit + 1}`
  const page = cutPage(found, query.limit, (movie) => [movie.sortText, movie.id])
  return {
    items: await withShowtimes(parts, page.rows, filter, SHOWTIMES_PER_MOVIE_LISTED),
    nextCursor: page.nextCursor,
  }
}

/** One film, on or not, with its showtimes. NOT_FOUND when there is none. */
export async function findMovie(parts: Parts, id: number, query: Omit<ProgrammeQuery, 'movieId'>): Promise<MovieView> {
  const found = await parts.sql<Movie[]>`
    select m.id, m.title, m.year, m.language, m.minutes, m.certificate, m.genres, m.cast_names, m.search_text as sort_text
    from movies m where m.id = ${id}`
  const filter = await readFilter(parts.sql, query)
  const [movie] = await withShowtimes(parts, found, filter, SHOWTIMES_PER_MOVIE_MAX)
  if (!movie) throw new Problem('NOT_FOUND')
  return movie
}

async function withShowtimes(
  parts: Parts,
  movies: Movie[],
  filter: ProgrammeFilter,
  perMovieMax: number,
): Promise<MovieView[]> {
  const { sql, programme } = parts
  const ids = movies.map((movie) => movie.id)
  const counted = await sql<{ inventoryId: number; movieId: number; total: number }[]>`
    select x.inventory_id, x.movie_id, x.total from (
      select s.inventory_id, s.movie_id, count(*) over (partition by s.movie_id)::int as total,
        row_number() over (partition by s.movie_id order by s.starts_at, s.inventory_id) as place
      from showtimes s join cinemas c on c.id = s.cinema_id
      where s.movie_id = any (${ids}::bigint[]) and ${inProgramme(sql, filter)}) x
    where x.place <= ${perMovieMax}`
  const chosen = counted.map((row) => row.inventoryId)
  const rows: Showtime[] = await selectShowtimes(
    sql,
    sql`s.inventory_id = any (${chosen}::bigint[])`,
    sql`order by s.starts_at, s.inventory_id`,
  )
  const views = await showShowtimes(programme, rows)
  return movies.map(({ castNames, sortText: _, ...movie }) => ({
    ...movie,
    id: formatNumbered('movie', movie.id),
    cast: castNames,
    showtimes: views.filter((view) => view.movie.id === formatNumbered('movie', movie.id)),
    showtimesTotal: counted.find((row) => row.movieId === movie.id)?.total ?? 0,
  }))
}
