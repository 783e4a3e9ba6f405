// What was sent to a webhook and what came of it; sending it again; trying whether anything arrives.
import Type from 'typebox'
import { cutPage, readCursor } from '#core/cursor.ts'
import { type App, closed, IdParam, PAGE_SIZE, Page, PageQuery, problems, Time } from '#core/http.ts'
import type { Sql } from '#database/connect.ts'
import type { EventName } from '#outbox/event.ts'
import { findEndpoint, managerOf } from './endpoint.ts'
import type { Reach } from './public-address.ts'
import { replayOne, replaySince } from './replay.ts'
import { WebhookDelivery } from './schemas.ts'
import { sendTest } from './send-test.ts'

type Parts = { sql: Sql; reach: Reach; wake: (worker: string) => void }
type Row = {
  eventId: string
  type: EventName
  status: 'DUE' | 'DELIVERED' | 'DEAD'
  attempts: number
  nextAttemptAt: string | null
  lastStatus: number | null
  lastError: string | null
  createdAt: string
  endedAt: string | null
}

export function deliveryRoutes(app: App, { sql, reach, wake }: Parts): void {
  const tags = ['Webhooks']
  const who = ['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND'] as const

  app.get(
    '/v1/webhooks/:id/deliveries',
    {
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'What was sent to a webhook, newest first, and what came of it',
        tags,
        params: IdParam,
        querystring: closed({ ...PageQuery, status: Type.Optional(Type.Enum(['DUE', 'DELIVERED', 'DEAD'])) }),
        response: { 200: Page(WebhookDelivery), ...problems('INVALID_REQUEST', ...who) },
      },
    },
    async (request) => {
      const { id } = await findEndpoint(sql, request.params.id, managerOf(request))
      const { cursor, limit = PAGE_SIZE, status = null } = request.query
      const [createdAt = null, eventId = null] = readCursor(cursor, ['time', 'uuid']) ?? []
      const found = await sql<Row[]>`
        select event_id, name as type, status, attempts, case when status = 'DUE' then next_attempt_at end as next_attempt_at,
          last_status, last_error, created_at, ended_at
        from webhook_deliveries where endpoint_id = ${id} and (${status}::text is null or status = ${status})
          and (${createdAt}::timestamptz is null or (created_at, event_id) < (${createdAt}, ${eventId}::uuid))
        order by created_at desc, event_id desc limit ${limit + 1}`
      const { rows, nextCursor } = cutPage(found, limit, (row) => [row.createdAt, row.eventId])
      return { items: rows, nextCursor }
    },
  )

  app.post(
    '/v1/webhooks/:id/deliveries/:eventId/replay',
    {
      schema: {
        operationId: 'replayWebhookDelivery',
        summary: 'Send one event again',
        tags,
        params: closed({ ...IdParam.properties, eventId: Type.String({ format: 'uuid' }) }),
        response: { 202: Type.Object({ queued: Type.Integer() }), ...problems('INVALID_REQUEST', ...who) },
      },
    },
    async (request, reply) => {
      await replayOne(sql, await findEndpoint(sql, request.params.id, managerOf(request)), request.params.eventId)
      wake('webhooks')
      return reply.code(202).send({ queued: 1 })
    },
  )

  app.post(
    '/v1/webhooks/:id/replay',
    {
      schema: {
        operationId: 'replayWebhook',
        summary: 'Send everything since a time again',
        description: 'Also what came while it was disabled; as far back as events are kept (OUTBOX_RETENTION_DAYS).',
        tags,
        params: IdParam,
        body: closed({ since: Time }),
        response: { 202: Type.Object({ queued: Type.Integer() }), ...problems('INVALID_REQUEST', ...who) },
      },
    },
    async (request, reply) => {
      const endpoint = await findEndpoint(sql, request.params.id, managerOf(request))
      const queued = await replaySince(sql, endpoint, request.body.since)
      wake('webhooks')
      return reply.code(202).send({ queued })
    },
  )

  app.post(
    '/v1/webhooks/:id/test',
    {
      schema: {
        operationId: 'testWebhook',
        summary: 'Send a message that tells of nothing, and see what comes of it',
        description: 'Its type is `Test`. Takes up to 10 seconds.',
        tags,
        params: IdParam,
        response: {
          200: Type.Object({
            delivered: Type.Boolean(),
            status: Type.Union([Type.Integer(), Type.Null()]),
            error: Type.Union([Type.String(), Type.Null()]),
            tookMs: Type.Integer(),
          }),
          ...problems(...who),
        },
      },
    },
    async (request) => sendTest(sql, await findEndpoint(sql, request.params.id, managerOf(request)), reach),
  )
}
