// The doors of one show: its seat map, and holding seats of it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Config } from '#config.ts'
import { type App, closed, IdParam, problems } from '#core/http.ts'
import { parseNumbered, parseSharded } from '#core/ids.ts'
import { withIdempotency } from '#idempotency/with-idempotency.ts'
import { isStaff, requireCustomer } from '#identity/caller.ts'
import { holdTokenOf } from '#identity/hold-token.ts'
import type { Limits } from '#limits/create-limits.ts'
import type { Channel } from '#pricing/priced-showing.ts'
import { requireAdmission } from '#waiting-room/require-admission.ts'
import type { WaitingRooms } from '#waiting-room/waiting-rooms.ts'
import { checkChoice } from './check-choice.ts'
import { type HoldSeatsParts, holdSeats } from './hold-seats.ts'
import { HoldBody, PlacedHold, SeatMap, SeatStatuses } from './programme-schemas.ts'
import type { SeatMapAnswer, SeatMaps } from './seat-map.ts'

type Parts = HoldSeatsParts & {
  config: Pick<Config, 'seatsPerHoldMax' | 'seatsPerCustomerMax'>
  limits: Limits
  seatMaps: SeatMaps
  waitingRooms: WaitingRooms
}

type HoldReply = Static<typeof PlacedHold>

export function seatRoutes(app: App, parts: Parts): void {
  const { sql, programme, secrets, config, limits, seatMaps, waitingRooms } = parts
  // The token is derived from the hold, so that the stored answer need not contain it.
  const restore = (stored: HoldReply): HoldReply => {
    const { uuid } = parseSharded('hold', stored.holdId)
    return { ...stored, holdToken: holdTokenOf(secrets.holdToken, uuid) }
  }
  const door = { sql, door: 'hold', required: false, secret: { field: 'holdToken' as const, restore } }

  app.get(
    '/v1/showtimes/:id/seats',
    {
      schema: {
        operationId: 'getSeatMap',
        summary: 'The seats of a show as they are now',
        description:
          'Strong ETag; send it as If-None-Match and get 304 while nothing changed. A hold that ran out is never shown as HELD, and its end changes the ETag. `view=status` is one letter a seat, for clients that have the layout.',
        tags: ['Cinema'],
        params: IdParam,
        querystring: closed({ view: Type.Optional(Type.Enum(['full', 'status'])) }),
        response: {
          200: Type.Union([SeatMap, SeatStatuses]),
          304: Type.Null({ description: 'You have it already.' }),
          ...problems('NOT_FOUND', 'INVALID_REQUEST'),
        },
      },
    },
    async (request, reply) => {
      const inventoryId = parseNumbered('show', request.params.id)
      const known = knownTags(request)
      const answer = await seatMaps.read(inventoryId, request.query.view ?? 'full', customerOf(request), known)
      return sendMap(reply, answer)
    },
  )

  app.post(
    '/v1/showtimes/:id/holds',
    {
      config: { whenPressed: 'first' },
      schema: {
        operationId: 'holdSeats',
        summary: 'Hold seats',
        description:
          'All of them or none: give either the seats or a wish for the best available ones, side by side. A new hold replaces your own one of this show that is not being paid yet. Holding again exactly what you hold answers 200 with that hold.',
        tags: ['Cinema'],
        params: IdParam,
        headers: Type.Object({
          'idempotency-key': Type.Optional(Type.String()),
          'holdfast-admission': Type.Optional(Type.String({ maxLength: 300 })),
        }),
        body: HoldBody,
        response: {
          200: PlacedHold,
          201: PlacedHold,
          ...problems(
            'UNAUTHENTICATED',
            'FORBIDDEN',
            'CROSS_ORIGIN',
            'NOT_FOUND',
            'INVALID_REQUEST',
            'NO_SEATS',
            'DUPLICATE_SEAT',
            'UNKNOWN_SEAT',
            'TOO_MANY_SEATS',
            'CUSTOMER_SEAT_LIMIT',
            'LEAVES_SINGLE_SEAT',
            'NOT_ENOUGH_SEATS',
            'SEATS_UNAVAILABLE',
            'SALE_CLOSED',
            'SALE_NOT_OPEN',
            'TOO_MANY_ATTEMPTS',
            'HOLD_CYCLING',
            'ADMISSION_REQUIRED',
            'WAITING_ROOM_UNAVAILABLE',
            'IDEMPOTENCY_KEY_INVALID',
            'IDEMPOTENCY_KEY_REUSED',
            'IDEMPOTENCY_IN_PROGRESS',
            'OVERLOADED',
          ),
        },
      },
    },
    async (request, reply) => {
      const customerId = requireCustomer(request)
      const showtime = await programme.showtime(parseNumbered('show', request.params.id))
      const layout = await programme.layout(showtime.screenId, showtime.layoutVersion)
      const { ticketTypes = [], ...wish } = request.body
      const choice = checkChoice(layout, wish, config.seatsPerHoldMax)
      const { inventoryId } = showtime
      const seats = 'seats' in choice ? choice.seats : null
      const avoid = await limits.attemptHold(request, reply, { customerId, inventoryId, seats })
      await requireAdmission(waitingRooms, request, { inventoryId, customerId })
      const unitsMax = isStaff(request.caller) ? null : config.seatsPerCustomerMax
      return withIdempotency<HoldReply>(request, reply, { ...door, inventoryId }, async () => {
        const channel = channelOf(request)
        const order = { showtime, layout, choice, customerId, unitsMax, avoid, ticketTypes, channel }
        const { repeated, ...hold } = await holdSeats(parts, order)
        if (!repeated) limits.held(request, { customerId, inventoryId, seats: hold.seats }, hold.remainingMs)
        return { status: repeated ? 200 : 201, body: { ...hold, showtimeId: request.params.id } }
      })
    },
  )
}

function channelOf({ caller }: FastifyRequest): Channel {
  if (caller.kind !== 'key') return 'WEB'
  return isStaff(caller) ? 'BOX_OFFICE' : 'PARTNER'
}

// Whose seats are `mine`; a look at the map needs no identity.
function customerOf({ caller }: FastifyRequest): string | null {
  if (caller.kind === 'customer') return caller.customerId
  return caller.kind === 'key' ? caller.actsFor : null
}

// If-None-Match compares weakly (RFC 9110): a proxy that compressed the map may have made the tag weak.
function knownTags(request: FastifyRequest): string[] {
  const header = request.headers['if-none-match'] ?? ''
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
}

function sendMap(reply: FastifyReply, { etag, shared, body }: SeatMapAnswer): FastifyReply {
  reply
    .header('etag', etag)
    .header('vary', 'Authorization, Cookie, Holdfast-Customer')
    .header('cache-control', shared ? 'public, no-cache' : 'private, no-cache')
  return body === null ? reply.code(304).send() : reply.type('application/json; charset=utf-8').send(body)
}
