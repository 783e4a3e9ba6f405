// The operator's doors of a waiting room: look, change, and the draw.
import Type, { type Static } from 'typebox'
import { type App, closed, IdParam, named, problems, Time } from '#core/http.ts'
import { formatNumbered, parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { requireRole } from '#identity/caller.ts'
import { changeRoom, type RoomStatus } from './change-room.ts'
import { hashSeed } from './draw.ts'
import { openRoom } from './open-room.ts'
import { PublishedDraw, readDraw } from './read-draw.ts'
import type { WaitingRooms } from './waiting-rooms.ts'

const Nothing = Type.Null()
const Status = () => Type.Enum(['OFF', 'PRE_QUEUE', 'OPEN', 'PAUSED', 'CLOSED'])

const WaitingRoom = named(
  'WaitingRoom',
  Type.Object({
    showtimeId: Type.String(),
    status: Status(),
    round: Type.Integer({ description: 'Counts how often it was switched on; 0 is never.' }),
    activeMax: Type.Union([Type.Integer(), Nothing]),
    admitPerMinute: Type.Union([Type.Integer(), Nothing]),
    opensAt: Type.Union([Type.String(), Nothing]),
    openedAt: Type.Union([Type.String(), Nothing]),
    message: Type.Union([Type.String(), Nothing]),
    seedHash: Type.Union([Type.String(), Nothing], { description: 'What the draw is committed to.' }),
    automatic: Type.Boolean({ description: 'Opened by load; it goes away by itself when nobody waits.' }),
    waiting: Type.Union([Type.Integer(), Nothing], { description: 'Null while the store does not answer.' }),
    active: Type.Union([Type.Integer(), Nothing]),
  }),
)

const WaitingRoomBody = closed({
  status: Status(),
  activeMax: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Admitted and active at once.' }),
  ),
  admitPerMinute: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000 }), Nothing], {
      description: 'null: as places become free.',
    }),
  ),
  opensAt: Type.Optional(Type.Union([Time, Nothing], { description: 'When a pre-queue is drawn; null: by hand.' })),
  message: Type.Optional(
    Type.Union([Type.String({ maxLength: 500 }), Nothing], { description: 'Shown to all who wait.' }),
  ),
})

const LONG_AGO: Static<typeof WaitingRoom> = {
  ...{ showtimeId: '', status: 'OFF', round: 0, activeMax: null, admitPerMinute: null, opensAt: null, openedAt: null },
  ...{ message: null, seedHash: null, automatic: false, waiting: 0, active: 0 },
}

export function operatorRoutes(app: App, rooms: WaitingRooms): void {
  const tags = ['Admin']

  app.get(
    '/v1/admin/showtimes/:id/waiting-room',
    {
      schema: {
        operationId: 'getWaitingRoom',
        summary: 'The waiting room of a show, and how many are in it',
        tags,
        params: IdParam,
        response: { 200: WaitingRoom, ...problems('UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND') },
      },
    },
    async (request) => {
      requireRole(request, 'admin', 'box_office')
      return describe(rooms, parseNumbered('show', request.params.id))
    },
  )

  app.put(
    '/v1/admin/showtimes/:id/waiting-room',
    {
      schema: {
        operationId: 'setWaitingRoom',
        summary: 'Switch a waiting room on or off, and steer it',
        description:
          'PRE_QUEUE: those who come wait together and are drawn at `opensAt`, or when it is set to OPEN. OPEN: first come, first served, at most `activeMax` inside. PAUSED: nobody new is admitted. CLOSED: nobody joins, and those who wait are told. Switching it on from OFF begins a new round with a new seed. What is left out stays as it is.',
        tags,
        params: IdParam,
        body: WaitingRoomBody,
        response: {
          200: WaitingRoom,
          ...problems(
            'UNAUTHENTICATED',
            'FORBIDDEN',
            'NOT_FOUND',
            'INVALID_REQUEST',
            'WAITING_ROOM_OPENED',
            'WAITING_ROOM_NOT_OPENED',
            'WAITING_ROOM_NEEDS_REDIS',
            'WAITING_ROOM_UNAVAILABLE',
          ),
        },
      },
    },
    async (request) => {
      requireRole(request, 'admin', 'box_office')
      if (!rooms.shared) throw new Problem('WAITING_ROOM_NEEDS_REDIS')
      const inventoryId = parseNumbered('show', request.params.id)
      await openFirst(rooms, inventoryId, request.body.status)
      const { newRound } = await changeRoom(rooms.sql, inventoryId, request.body)
      await rooms.refresh()
      const room = rooms.room(inventoryId)
      // Where the store is away it finds a round it does not know, and waits a minute with it, in case that it had only forgotten it.
      if (room && newRound) await rooms.store.begin(room).catch(() => {})
      return describe(rooms, inventoryId)
    },
  )

  app.get(
    '/v1/admin/showtimes/:id/waiting-room/order',
    {
      schema: {
        operationId: 'getWaitingRoomOrder',
        summary: 'The draw, as everybody can read it',
        tags,
        params: IdParam,
        response: {
          200: PublishedDraw,
          ...problems('UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'WAITING_ROOM_NOT_OPENED'),
        },
      },
    },
    async (request) => {
      requireRole(request, 'admin', 'box_office')
      return readDraw(rooms.sql, parseNumbered('show', request.params.id))
    },
  )
}

/** A pre-queue that is opened, or opened and paused at once, is drawn. */
async function openFirst(rooms: WaitingRooms, inventoryId: number, wanted: RoomStatus): Promise<void> {
  if (wanted !== 'OPEN' && wanted !== 'PAUSED') return
  await rooms.refresh()
  const room = rooms.room(inventoryId)
  if (!room || room.opened) return
  await openRoom(rooms, room).catch(() => {
    throw new Problem('WAITING_ROOM_UNAVAILABLE')
  })
}

type Row = Omit<Static<typeof WaitingRoom>, 'showtimeId' | 'seedHash' | 'waiting' | 'active'> & { seed: string }

async function describe(rooms: WaitingRooms, inventoryId: number): Promise<Static<typeof WaitingRoom>> {
  const showtimeId = formatNumbered('show', inventoryId)
  const [found] = await rooms.sql<(Row | { status: null })[]>`
    select r.status, round, active_max, admit_per_minute, opens_at, opened_at, message, automatic, encode(seed, 'hex') as seed
    from inventories i left join waiting_rooms r on r.inventory_id = i.id where i.id = ${inventoryId}`
  if (!found) throw new Problem('NOT_FOUND')
  if (found.status === null) return { ...LONG_AGO, showtimeId }
  const { seed, ...row } = found
  const room = rooms.room(inventoryId)
  const count = room
    ? await rooms.store.move(room).catch(() => ({ waiting: null, active: null }))
    : { waiting: 0, active: 0 }
  return { ...row, showtimeId, seedHash: hashSeed(seed), waiting: count.waiting, active: count.active }
}
