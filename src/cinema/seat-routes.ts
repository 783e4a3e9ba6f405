// The door where seats of a show are held.
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Config } from '#config.ts'
import { type App, IdParam, problems } from '#core/http.ts'
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
import { HoldBody, PlacedHold } from './programme-schemas.ts'

type Parts = HoldSeatsParts & {
  config: Pick<Config, 'seatsPerHoldMax' | 'seatsPerCustomerMax'>
  limits: Limits
  waitingRooms: WaitingRooms
}

type HoldReply = Static<typeof PlacedHold>

export function seatRoutes(app: App, parts: Parts): void {
  const { sql, programme, secrets, config, limits, waitingRooms } = parts
  // The token is derived from the hold, so that the stored answer need not contain it.
  const restore = (stored: HoldReply): HoldReply => {
    const { uuid } = parseSharded('hold', stored.holdId)
    return { ...stored, holdToken: holdTokenOf(secrets.holdToken, uuid) }
  }
  const door = { sql, door: 'hold', required: false, secret: { field: 'holdToken' as const, restore } }

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
