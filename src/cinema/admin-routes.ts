// Administration of the standing things: cities, cinemas, films, price lists. For keys with the role admin.
import { type App, closed, IdParam, problems } from '#core/http.ts'
import { formatNumbered, parseNumbered } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import type { PriceRule } from '#pricing/price-list.ts'
import { addCinema } from './add-cinema.ts'
import { addCity } from './add-city.ts'
import { addMovie } from './add-movie.ts'
import { CinemaBody, CityBody, Created, MovieBody, Name, PriceListBody, PriceListView, tags } from './admin-schemas.ts'
import type { Programme } from './programme.ts'
import { readPriceList } from './read-price-list.ts'
import { addPriceList, changePriceList } from './write-price-list.ts'

export function cinemaAdminRoutes(app: App, { sql, programme }: { sql: Sql; programme: Programme }): void {
  const refusals = problems('UNAUTHENTICATED', 'FORBIDDEN', 'INVALID_REQUEST', 'NOT_FOUND', 'ALREADY_EXISTS')
  const priceRefusals = problems('UNAUTHENTICATED', 'FORBIDDEN', 'INVALID_REQUEST', 'NOT_FOUND', 'PRICE_LIST_INVALID')

  app.post(
    '/v1/admin/cities',
    {
      schema: {
        operationId: 'addCity',
        summary: 'Add a city',
        tags,
        body: CityBody,
        response: { 201: Created, ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      return reply.code(201).send({ id: formatNumbered('city', await addCity(sql, request.body)) })
    },
  )

  app.post(
    '/v1/admin/cinemas',
    {
      schema: {
        operationId: 'addCinema',
        summary: 'Add a cinema',
        tags,
        body: CinemaBody,
        response: { 201: Created, ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      const cinema = { ...request.body, cityId: parseNumbered('city', request.body.cityId) }
      return reply.code(201).send({ id: formatNumbered('cinema', await sql.begin((tx) => addCinema(tx, cinema))) })
    },
  )

  app.post(
    '/v1/admin/movies',
    {
      schema: {
        operationId: 'addMovie',
        summary: 'Add a film',
        tags,
        body: MovieBody,
        response: { 201: Created, ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      return reply.code(201).send({ id: formatNumbered('movie', await addMovie(sql, request.body)) })
    },
  )

  app.post(
    '/v1/admin/cinemas/:id/price-lists',
    {
      schema: {
        operationId: 'addPriceList',
        summary: 'Add a price list',
        tags,
        params: IdParam,
        body: closed({ name: Name, ...PriceListBody }),
        response: { 201: Created, ...priceRefusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      const list = {
        ...request.body,
        rules: request.body.rules as PriceRule[],
        cinemaId: parseNumbered('cinema', request.params.id),
      }
      return reply.code(201).send({ id: formatNumbered('prices', await sql.begin((tx) => addPriceList(tx, list))) })
    },
  )

  app.get(
    '/v1/admin/price-lists/:id',
    {
      schema: {
        operationId: 'getPriceList',
        summary: 'A price list',
        tags,
        params: IdParam,
        response: { 200: PriceListView, ...priceRefusals },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      return priceListView(await readPriceList(sql, parseNumbered('prices', request.params.id)))
    },
  )

  app.put(
    '/v1/admin/price-lists/:id',
    {
      schema: {
        operationId: 'changePriceList',
        summary: 'Change prices',
        description:
          'For new holds. What is held or booked keeps its price. Other processes follow within two seconds.',
        tags,
        params: IdParam,
        body: closed(PriceListBody),
        response: { 200: PriceListView, ...priceRefusals },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      const id = parseNumbered('prices', request.params.id)
      await sql.begin((tx) => changePriceList(tx, id, { ...request.body, rules: request.body.rules as PriceRule[] }))
      programme.forgetPrices()
      return priceListView(await readPriceList(sql, id))
    },
  )
}

function priceListView({ categoryNames: _, ...list }: Awaited<ReturnType<typeof readPriceList>>) {
  const rules = list.rules.map((rule) => ({ ...rule, terms: rule.terms as Record<string, unknown> }))
  return { ...list, rules, id: formatNumbered('prices', list.id), cinemaId: formatNumbered('cinema', list.cinemaId) }
}
