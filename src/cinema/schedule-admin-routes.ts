// Administration of what plays: screens and the versions of their seats, showtimes, seats taken off sale.
import Type from 'typebox'
import { type App, closed, IdParam, problems, Time } from '#core/http.ts'
import { formatNumbered, parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import { addLayout } from './add-layout.ts'
import { addScreen } from './add-screen.ts'
import { Created, LayoutBody, Name, ShowtimeBody, seatsOf, tags } from './admin-schemas.ts'
import { checkNamedSeats } from './check-choice.ts'
import type { Programme } from './programme.ts'
import { SeatCodes } from './programme-schemas.ts'
import { scheduleShowtime } from './schedule-showtime.ts'

// A layout of 5,000 seats as JSON.
const LAYOUT_BODY_MAX_BYTES = 2_000_000
type Parts = { sql: Sql; programme: Programme; boards: Pick<SeatBoards, 'changed'> }

export function scheduleAdminRoutes(app: App, { sql, programme, boards }: Parts): void {
  const refusals = problems(
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'INVALID_REQUEST',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'LAYOUT_INVALID',
  )

  app.post(
    '/v1/admin/cinemas/:id/screens',
    {
      bodyLimit: LAYOUT_BODY_MAX_BYTES,
      schema: {
        operationId: 'addScreen',
        summary: 'Add a screen with its seats',
        tags,
        params: IdParam,
        body: closed({
          name: Name,
          ...LayoutBody,
          singleSeatsRefused: Type.Optional(
            Type.Boolean({ description: 'Refuse choices that leave a single seat alone.' }),
          ),
        }),
        response: { 201: Created, ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      const { seats, patterns, ...body } = request.body
      const screen = {
        ...body,
        cinemaId: parseNumbered('cinema', request.params.id),
        seats: seatsOf({ seats, patterns }),
      }
      return reply.code(201).send({ id: formatNumbered('screen', await sql.begin((tx) => addScreen(tx, screen))) })
    },
  )

  app.post(
    '/v1/admin/screens/:id/layouts',
    {
      bodyLimit: LAYOUT_BODY_MAX_BYTES,
      schema: {
        operationId: 'addLayout',
        summary: 'A new version of a screen’s seats',
        description: 'For showtimes published from now on. Those published already keep their seats.',
        tags,
        params: IdParam,
        body: closed(LayoutBody),
        response: { 201: Type.Object({ screenId: Type.String(), version: Type.Integer() }), ...refusals },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      const screenId = parseNumbered('screen', request.params.id)
      const seats = seatsOf(request.body)
      const version = await sql.begin((tx) => addLayout(tx, screenId, seats, request.body.focal))
      return reply.code(201).send({ screenId: request.params.id, version })
    },
  )

  app.post(
    '/v1/admin/showtimes',
    {
      schema: {
        operationId: 'scheduleShowtime',
        summary: 'Publish a showtime',
        tags,
        body: ShowtimeBody,
        response: {
          201: Type.Object({
            id: Type.String(),
            startsAt: Time,
            startsLocal: Type.String(),
            businessDay: Type.String(),
          }),
          ...problems(
            'UNAUTHENTICATED',
            'FORBIDDEN',
            'INVALID_REQUEST',
            'NOT_FOUND',
            'SCREEN_BUSY',
            'LOCAL_TIME_INVALID',
            'PRICE_LIST_INVALID',
          ),
        },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      const { movieId, screenId, priceListId, ...plan } = request.body
      const ids = {
        movieId: parseNumbered('movie', movieId),
        screenId: parseNumbered('screen', screenId),
        priceListId: parseNumbered('prices', priceListId),
      }
      const inventoryId = await sql.begin((tx) => scheduleShowtime(tx, { ...plan, ...ids }))
      const { startsAt, startsLocal, businessDay } = await programme.showtime(inventoryId)
      return reply.code(201).send({ id: formatNumbered('show', inventoryId), startsAt, startsLocal, businessDay })
    },
  )

  const Blocked = Type.Object({ showtimeId: Type.String(), seats: Type.Array(Type.String()) })
  const blockRefusals = problems(
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'NOT_FOUND',
    'NO_SEATS',
    'DUPLICATE_SEAT',
    'UNKNOWN_SEAT',
    'SEATS_UNAVAILABLE',
  )

  app.post(
    '/v1/admin/showtimes/:id/block',
    {
      schema: {
        operationId: 'blockSeats',
        summary: 'Take free seats off sale',
        tags,
        params: IdParam,
        body: closed({ seats: SeatCodes, reason: Name }),
        response: { 200: Blocked, ...blockRefusals },
      },
    },
    async (request) => {
      const { name } = requireRole(request, 'admin', 'box_office')
      const { seats, reason } = request.body
      const inventoryId = await checkSeats(request.params.id, seats)
      const done = await postgresStore(sql).block(inventoryId, seats, name, reason)
      if (done.outcome === 'UNAVAILABLE') throw new Problem('SEATS_UNAVAILABLE', { seats: done.blocking })
      boards.changed(inventoryId)
      return { showtimeId: request.params.id, seats }
    },
  )

  app.post(
    '/v1/admin/showtimes/:id/unblock',
    {
      schema: {
        operationId: 'unblockSeats',
        summary: 'Put blocked seats back on sale',
        tags,
        params: IdParam,
        body: closed({ seats: SeatCodes }),
        response: { 200: Blocked, ...blockRefusals },
      },
    },
    async (request) => {
      requireRole(request, 'admin', 'box_office')
      const { seats } = request.body
      const inventoryId = await checkSeats(request.params.id, seats)
      const done = await postgresStore(sql).unblock(inventoryId, seats)
      if (done.outcome === 'UNAVAILABLE') throw new Problem('SEATS_UNAVAILABLE', { seats: done.blocking })
      boards.changed(inventoryId)
      return { showtimeId: request.params.id, seats }
    },
  )

  async function checkSeats(id: string, seats: string[]): Promise<number> {
    const showtime = await programme.showtime(parseNumbered('show', id))
    checkNamedSeats(await programme.layout(showtime.screenId, showtime.layoutVersion), seats)
    return showtime.inventoryId
  }
}
