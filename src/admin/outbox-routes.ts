// How far telling is, sink by sink; what a sink would not take; and what a person can do about either.
import Type from 'typebox'
import { cutPage, readCursor } from '#core/cursor.ts'
import { type App, closed, named, PAGE_SIZE, Page, PageQuery, problems, Time } from '#core/http.ts'
import { formatSharded } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import { outboxLag } from '#outbox/lag.ts'
import { removeSink } from '#outbox/register-sinks.ts'
import { findParked, letGo, listParked, type ParkedDelivery, unpark } from '#outbox/unpark.ts'

const ParkedEvent = named(
  'ParkedEvent',
  Type.Object({
    sink: Type.String(),
    eventId: Type.String(),
    bookingId: Type.String(),
    sequence: Type.Integer(),
    type: Type.String(),
    attempts: Type.Integer(),
    lastError: Type.String(),
    parkedAt: Time,
    waiting: Type.Integer({ description: 'Later events of the booking that wait behind it for this sink.' }),
  }),
)
const SinkName = Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$' })
const ParkedParams = closed({ sink: SinkName, eventId: Type.String({ format: 'uuid' }) })

export function outboxRoutes(app: App, { sql, wake }: { sql: Sql; wake: (worker: string) => void }): void {
  const tags = ['Admin']
  const who = ['UNAUTHENTICATED', 'FORBIDDEN'] as const

  app.get(
    '/v1/admin/outbox/sinks',
    {
      schema: {
        operationId: 'listSinks',
        summary: 'Who is told of events, and how far behind each is',
        tags,
        response: {
          200: Type.Object({
            items: Type.Array(
              Type.Object({
                sink: Type.String(),
                since: Time,
                unsent: Type.Integer(),
                parked: Type.Integer(),
                oldestUnsentSeconds: Type.Number(),
              }),
            ),
            nextCursor: Type.Null(),
          }),
          ...problems(...who),
        },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      return { items: await outboxLag(sql), nextCursor: null }
    },
  )

  app.delete(
    '/v1/admin/outbox/sinks/:sink',
    {
      schema: {
        operationId: 'removeSink',
        summary: 'Tell a sink nothing any more, and forget what it was still to be told',
        description: 'For a sink that is configured nowhere any more; one that is comes back with the next start.',
        tags,
        params: closed({ sink: SinkName }),
        response: { 200: Type.Object({ untold: Type.Integer() }), ...problems(...who, 'NOT_FOUND') },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      return { untold: await removeSink(sql, request.params.sink) }
    },
  )

  app.get(
    '/v1/admin/outbox/parked',
    {
      schema: {
        operationId: 'listParkedEvents',
        summary: 'Events that a sink would not take, the longest parked first',
        tags,
        querystring: closed(PageQuery),
        response: { 200: Page(ParkedEvent), ...problems('INVALID_REQUEST', ...who) },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      const { cursor, limit = PAGE_SIZE } = request.query
      const found = await listParked(sql, { after: readCursor(cursor, ['time', 'uuid']), limit: limit + 1 })
      const { rows, nextCursor } = cutPage(found, limit, (row) => [row.parkedAt, row.eventId])
      return { items: rows.map(describe), nextCursor }
    },
  )

  app.post(
    '/v1/admin/outbox/parked/:sink/:eventId/retry',
    {
      schema: {
        operationId: 'retryParkedEvent',
        summary: 'Let a parked event try again, from the beginning',
        tags,
        params: ParkedParams,
        response: { 204: Type.Null(), ...problems(...who, 'NOT_FOUND') },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      await unpark(sql, await findParked(sql, request.params.sink, request.params.eventId))
      wake('relay')
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/v1/admin/outbox/parked/:sink/:eventId',
    {
      schema: {
        operationId: 'dropParkedEvent',
        summary: 'Never tell this event to this sink, so that the booking’s later ones leave',
        tags,
        params: ParkedParams,
        response: { 204: Type.Null(), ...problems(...who, 'NOT_FOUND') },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      await letGo(sql, await findParked(sql, request.params.sink, request.params.eventId))
      wake('relay')
      return reply.code(204).send(null)
    },
  )
}

function describe({ inventoryId, bookingId, seq, name, ...same }: ParkedDelivery) {
  return { ...same, bookingId: formatSharded('book', inventoryId, bookingId), sequence: seq, type: name }
}
