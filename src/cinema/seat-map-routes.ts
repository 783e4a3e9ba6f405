// The doors to look at the seats of a show: the map with what is free now, and the layout under it, which never changes.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type App, closed, IdParam, problems } from '#core/http.ts'
import { parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import type { Programme } from './programme.ts'
import { SeatMap, SeatStatuses, ShowLayout } from './programme-schemas.ts'
import { type Encoding, openSeatMaps, type SeatMapAnswer } from './seat-map.ts'

// The one header a proxy has to keep copies apart by, besides who is asking.
const VARY = 'Accept-Encoding, Authorization, Cookie, Holdfast-Customer'
const FOR_EVER = 'public, max-age=31536000, immutable'

export function seatMapRoutes(app: App, { programme, boards }: { programme: Programme; boards: SeatBoards }): void {
  const seatMaps = openSeatMaps({ programme, boards })

  app.get(
    '/v1/showtimes/:id/seats',
    {
      schema: {
        operationId: 'getSeatMap',
        summary: 'The seats of a show as they are now',
        description:
          'Strong ETag; send it as If-None-Match and get 304 while nothing changed. A hold that ran out is never shown as HELD, and its end changes the ETag. `view=status` is one letter a seat, for clients that have the layout. While the database is away the last map is sent for half a minute, with its Age.',
        tags: ['Cinema'],
        params: IdParam,
        querystring: closed({ view: Type.Optional(Type.Enum(['full', 'status'])) }),
        response: {
          200: Type.Union([SeatMap, SeatStatuses]),
          304: Type.Null({ description: 'You have it already.' }),
          ...problems('NOT_FOUND', 'INVALID_REQUEST', 'DATABASE_UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      const wish = {
        view: request.query.view ?? ('full' as const),
        customerId: customerOf(request),
        known: knownTags(request),
        encoding: encodingFor(request.headers['accept-encoding']),
      }
      const answer = seatMaps.read(parseNumbered('show', request.params.id), wish)
      return sendMap(reply, answer instanceof Promise ? await answer : answer)
    },
  )

  app.get(
    '/v1/showtimes/:id/layout',
    {
      schema: {
        operationId: 'getShowLayout',
        summary: 'Where the seats of a show are',
        description:
          'The part of the seat map that never changes, in the order of `statuses`. With its `version` (`layoutVersion` of the map) it may be kept for ever; without, it is the one the show has.',
        tags: ['Cinema'],
        params: IdParam,
        querystring: closed({ version: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}$' })) }),
        response: { 200: ShowLayout, ...problems('NOT_FOUND', 'INVALID_REQUEST') },
      },
    },
    async ({ params, query }, reply) => {
      const showtime = await programme.showtime(parseNumbered('show', params.id))
      if (query.version !== undefined && Number(query.version) !== showtime.layoutVersion)
        throw new Problem('NOT_FOUND')
      const layout = await programme.layout(showtime.screenId, showtime.layoutVersion)
      reply.header('cache-control', query.version === undefined ? 'public, no-cache' : FOR_EVER)
      return {
        showtimeId: params.id,
        layoutVersion: layout.version,
        width: layout.width,
        height: layout.height,
        seats: layout.seats.map(({ section, ...seat }) => ({ ...seat, ...(section === '' ? {} : { section }) })),
      }
    },
  )
}

// Whose seats are `mine`; a look at the map needs no identity.
function customerOf({ caller }: FastifyRequest): string | null {
  if (caller.kind === 'customer') return caller.customerId
  return caller.kind === 'key' ? caller.actsFor : null
}

const NO_TAGS: string[] = []

// If-None-Match compares weakly (RFC 9110): a proxy that compressed the map may have made the tag weak.
function knownTags(request: FastifyRequest): string[] {
  const header = request.headers['if-none-match']
  return header === undefined ? NO_TAGS : header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
}

// `q=0` is a refusal; among the others ours is the order, as a map is written once and read often.
function encodingFor(accepted: string | string[] | undefined): Encoding | null {
  if (typeof accepted !== 'string') return null
  const named = (name: string) =>
    new RegExp(`(?:^|[ ,])${name}(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))(?=[ ,;]|$)`).test(accepted)
  return named('br') ? 'br' : named('gzip') ? 'gzip' : null
}

function sendMap(reply: FastifyReply, { etag, shared, encoding, ageS, body }: SeatMapAnswer): FastifyReply {
  reply
    .header('etag', etag)
    .header('vary', VARY)
    .header('cache-control', shared ? 'public, no-cache' : 'private, no-cache')
  if (ageS > 0) reply.header('age', String(ageS))
  if (body === null) return reply.code(304).send()
  if (encoding) reply.header('content-encoding', encoding)
  return reply.type('application/json; charset=utf-8').send(body)
}
