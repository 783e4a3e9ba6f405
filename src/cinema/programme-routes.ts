// The doors to look around: cities, cinemas, films, showtimes. Open to everybody.
import Type from 'typebox'
import { type App, closed, IdParam, Page, PageQuery, problems } from '#core/http.ts'
import { parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { listCinemas } from './list-cinemas.ts'
import { listCities } from './list-cities.ts'
import { listShowtimes, showShowtimes } from './list-showtimes.ts'
import type { Programme } from './programme.ts'
import { readFilter } from './programme-filter.ts'
import { Cinema, City, Movie, Showtime } from './programme-schemas.ts'
import { findMovie, searchMovies } from './search-movies.ts'

const LIMIT = 50
const MOVIES_LIMIT = 20
const CityQuery = Type.Optional(
  Type.String({ maxLength: 100, description: 'An id (`city_2`) or a name, with or without accents.' }),
)
const DateQuery = Type.Optional(
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    description: 'A day of the venue’s programme, all of it. Without: what can still be bought.',
  }),
)
const IdQuery = Type.Optional(Type.String({ maxLength: 100 }))

export function programmeRoutes(app: App, parts: { sql: Sql; programme: Programme }): void {
  const { sql, programme } = parts
  const tags = ['Cinema']

  app.get(
    '/v1/cities',
    {
      schema: {
        operationId: 'listCities',
        summary: 'Cities with their cinemas',
        tags,
        response: { 200: Page(City), ...problems() },
      },
    },
    async () => ({ items: await listCities(sql), nextCursor: null }),
  )

  app.get(
    '/v1/cinemas',
    {
      schema: {
        operationId: 'listCinemas',
        summary: 'Cinemas',
        tags,
        querystring: closed({ city: CityQuery }),
        response: { 200: Page(Cinema), ...problems('INVALID_REQUEST') },
      },
    },
    async ({ query }) => {
      const { cityId } = await readFilter(sql, query)
      return { items: await listCinemas(sql, { cityId }), nextCursor: null }
    },
  )

  app.get(
    '/v1/cinemas/:id',
    {
      schema: {
        operationId: 'getCinema',
        summary: 'A cinema',
        tags,
        params: IdParam,
        response: { 200: Cinema, ...problems('NOT_FOUND') },
      },
    },
    async ({ params }) => {
      const [cinema] = await listCinemas(sql, { id: parseNumbered('cinema', params.id) })
      if (!cinema) throw new Problem('NOT_FOUND')
      return cinema
    },
  )

  app.get(
    '/v1/movies',
    {
      schema: {
        operationId: 'listMovies',
        summary: 'What is on',
        description:
          'Films that have a showtime which fits, with these showtimes. `q` searches titles and does not mind accents, case or signs.',
        tags,
        querystring: closed({
          ...PageQuery,
          city: CityQuery,
          cinemaId: IdQuery,
          date: DateQuery,
          q: Type.Optional(Type.String({ maxLength: 200 })),
        }),
        response: { 200: Page(Movie), ...problems('INVALID_REQUEST') },
      },
    },
    ({ query }) => searchMovies(parts, { ...query, limit: query.limit ?? MOVIES_LIMIT }),
  )

  app.get(
    '/v1/movies/:id',
    {
      schema: {
        operationId: 'getMovie',
        summary: 'A film with its showtimes',
        tags,
        params: IdParam,
        querystring: closed({ city: CityQuery, cinemaId: IdQuery, date: DateQuery }),
        response: { 200: Movie, ...problems('NOT_FOUND', 'INVALID_REQUEST') },
      },
    },
    ({ params, query }) => findMovie(parts, parseNumbered('movie', params.id), query),
  )

  app.get(
    '/v1/showtimes',
    {
      schema: {
        operationId: 'listShowtimes',
        summary: 'Showtimes',
        tags,
        querystring: closed({ ...PageQuery, movieId: IdQuery, cinemaId: IdQuery, city: CityQuery, date: DateQuery }),
        response: { 200: Page(Showtime), ...problems('INVALID_REQUEST') },
      },
    },
    ({ query }) => listShowtimes(parts, { ...query, limit: query.limit ?? LIMIT }),
  )

  app.get(
    '/v1/showtimes/:id',
    {
      schema: {
        operationId: 'getShowtime',
        summary: 'A showtime',
        tags,
        params: IdParam,
        response: { 200: Showtime, ...problems('NOT_FOUND') },
      },
    },
    async ({ params }) => {
      const [view] = await showShowtimes(programme, [await programme.showtime(parseNumbered('show', params.id))])
      if (!view) throw new Problem('NOT_FOUND')
      return view
    },
  )
}
