// The visitor's doors of the waiting room: join, be heard of, leave, and check the draw.
import { Readable } from 'node:stream'
import Type from 'typebox'
import { type App, closed, IdParam, named, problems, Time } from '#core/http.ts'
import { parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { requireCustomer } from '#identity/caller.ts'
import { joinQueue } from './join-queue.ts'
import { leaveQueue } from './leave-queue.ts'
import { operatorRoutes } from './operator-routes.ts'
import { HEARTBEAT_S } from './queue-view.ts'
import { PublishedDraw, readDraw } from './read-draw.ts'
import { streamVisits } from './stream-visits.ts'
import { findOwnTicket, visitQueue } from './visit-queue.ts'
import type { WaitingRooms } from './waiting-rooms.ts'

const Nothing = Type.Null()
const Status = Type.Enum(['PRE_QUEUE', 'WAITING', 'ADMITTED', 'SOLD_OUT', 'LEFT', 'CLOSED'])

const QueuePlace = named(
  'QueuePlace',
  Type.Object({
    ticket: Type.String({ description: 'Names the place in addresses; of no use without the session it belongs to.' }),
    showtimeId: Type.String(),
    status: Status,
    state: Type.Enum(['PRE_QUEUE', 'WAITING', 'ADMITTED', 'SOLD_OUT', 'LEFT', 'CLOSED'], {
      description: 'The same as `status`.',
    }),
    position: Type.Union([Type.Integer(), Nothing], { description: '1 is next; null while there is no line.' }),
    ahead: Type.Union([Type.Integer(), Nothing]),
    etaSeconds: Type.Union([Type.Integer(), Nothing], { description: 'From how fast the line has moved of late.' }),
    opensAt: Type.Optional(Time),
    message: Type.Optional(Type.String()),
    seedHash: Type.Optional(Type.String({ description: 'SHA-256 of the seed of the draw, before the opening.' })),
    admission: Type.Optional(
      Type.String({ description: 'The newest one; sent as `Holdfast-Admission`, or left out: the session is known.' }),
    ),
    admissionExpiresAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'Its end in any case; it ends sooner for who is not heard of.' }),
    ),
    heartbeatSeconds: Type.Integer({
      description: 'Ask again after this long. After a minute of silence the place is given away.',
    }),
  }),
)

// An open stream costs some kilobytes; beyond this a page asks by itself.
const STREAMS_MAX = 20_000

const TicketParam = closed({ ticket: Type.String({ maxLength: 150 }) })
const Pass = Type.Object({ 'holdfast-admission': Type.Optional(Type.String({ maxLength: 300 })) })

export function waitingRoomRoutes(app: App, { waitingRooms: rooms }: { waitingRooms: WaitingRooms }): void {
  const tags = ['Waiting room']

  app.post(
    '/v1/showtimes/:id/queue',
    {
      schema: {
        operationId: 'joinQueue',
        summary: 'Join the queue of a show',
        description:
          'Again, from another tab or by another process, is the same place. Where no waiting room is on the answer is ADMITTED, without an admission: none is needed.',
        tags,
        params: IdParam,
        response: {
          200: QueuePlace,
          201: QueuePlace,
          ...problems('UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_ORIGIN', 'NOT_FOUND', 'WAITING_ROOM_UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      const customerId = requireCustomer(request)
      const { first, view } = await joinQueue(rooms, parseNumbered('show', request.params.id), customerId)
      return reply.code(first ? 201 : 200).send(view)
    },
  )

  app.get(
    '/v1/queue/:ticket',
    {
      schema: {
        operationId: 'getQueuePlace',
        summary: 'Be heard of, and hear where one stands',
        description: 'Only for the session that joined.',
        tags,
        params: TicketParam,
        headers: Pass,
        response: {
          200: QueuePlace,
          ...problems('UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'WAITING_ROOM_UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      const ticket = findOwnTicket(rooms, request.params.ticket, requireCustomer(request))
      reply.header('cache-control', 'no-store')
      return visitQueue(rooms, ticket, request.headers['holdfast-admission'] ?? null)
    },
  )

  const stopStreams = new AbortController()
  app.addHook('preClose', async () => stopStreams.abort())
  let streams = 0

  app.get(
    '/v1/queue/:ticket/stream',
    {
      schema: {
        operationId: 'streamQueuePlace',
        summary: 'The same as server-sent events: `state`, whenever something changed',
        description:
          'An open stream is a sign of life. It ends with what is final: SOLD_OUT is not, seats may come back.',
        tags,
        params: TicketParam,
        response: {
          200: {
            description: 'Events',
            content: { 'text/event-stream': { schema: Type.Unsafe<Readable>({ type: 'string' }) } },
          },
          ...problems('UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'OVERLOADED', 'WAITING_ROOM_UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      const ticket = findOwnTicket(rooms, request.params.ticket, requireCustomer(request))
      if (streams >= STREAMS_MAX) throw new Problem('OVERLOADED', { retryAfterSeconds: HEARTBEAT_S })
      const gone = new AbortController()
      streams += 1
      // The answer's end: the request's own is when it was read.
      reply.raw.once('close', () => {
        streams -= 1
        gone.abort()
      })
      const events = streamVisits(rooms, ticket, AbortSignal.any([gone.signal, stopStreams.signal]))
      reply.header('cache-control', 'no-store').type('text/event-stream; charset=utf-8')
      return reply.send(Readable.from(events, { highWaterMark: 1 }))
    },
  )

  app.delete(
    '/v1/queue/:ticket',
    {
      schema: {
        operationId: 'leaveQueue',
        summary: 'Leave the queue, or give an admission back',
        tags,
        params: TicketParam,
        response: {
          204: { description: 'The place is free for the next one; also when it was given up already.' },
          ...problems('UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_ORIGIN', 'NOT_FOUND', 'WAITING_ROOM_UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      await leaveQueue(rooms, findOwnTicket(rooms, request.params.ticket, requireCustomer(request)))
      return reply.code(204).send()
    },
  )

  app.get(
    '/v1/showtimes/:id/queue/order',
    {
      schema: {
        operationId: 'getQueueOrder',
        summary: 'The draw, for everybody to check',
        description:
          'The seed whose hash was published before, and everybody who took part, in the order it gave: by the first 13 hexadecimal digits of SHA-256("seed.visitor"), then by the visitor’s text. The visitor is the third part of a ticket. `holdfast queue verify` works it out again.',
        tags,
        params: IdParam,
        response: { 200: PublishedDraw, ...problems('NOT_FOUND', 'WAITING_ROOM_NOT_OPENED') },
      },
    },
    async (request) => readDraw(rooms.sql, parseNumbered('show', request.params.id)),
  )

  operatorRoutes(app, rooms)
}
