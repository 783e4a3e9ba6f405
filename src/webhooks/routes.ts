// Partners manage by API where they are told of their customers' bookings; an admin's endpoint is told of all.
import Type from 'typebox'
import { type App, closed, IdParam, PAGE_SIZE, Page, PageQuery, problems, Time } from '#core/http.ts'
import { parseNumbered } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import { changeEndpoint, deleteEndpoint } from './change-endpoint.ts'
import { createEndpoint } from './create-endpoint.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { type Endpoint, endpointColumns, findEndpoint, formatEndpointId, formatSecret, managerOf } from './endpoint.ts'
import { reachOf } from './public-address.ts'
import { rotateSecret } from './rotate-secret.ts'
import { Description, describeEndpoint, EventNames, NewWebhook, Status, Url, Webhook } from './schemas.ts'

const DAY_S = 86_400
// The last id of the page before.
const Cursor = Type.String({ pattern: '^hook_[1-9][0-9]{0,14}$' })

type Parts = { sql: Sql; config: { webhookAllowPrivate: 'on' | 'off' }; wake: (worker: string) => void }

export function webhookRoutes(app: App, { sql, config, wake }: Parts): void {
  const tags = ['Webhooks']
  const who = ['UNAUTHENTICATED', 'FORBIDDEN'] as const
  const reach = reachOf(config)
  deliveryRoutes(app, { sql, reach, wake })

  app.post(
    '/v1/webhooks',
    {
      schema: {
        operationId: 'createWebhook',
        summary: 'Be told of bookings at an address of yours',
        description:
          'Messages are signed as Standard Webhooks says, with the secret in this answer. They are tried for three days, so the same `webhook-id` can come more than once, and events of a booking can overtake each other: order them by `sequence`.',
        tags,
        body: closed({ url: Url, description: Type.Optional(Description), events: Type.Optional(EventNames) }),
        response: { 201: NewWebhook, ...problems('INVALID_REQUEST', ...who, 'WEBHOOK_URL_REFUSED', 'WEBHOOK_LIMIT') },
      },
    },
    async (request, reply) => {
      const { secret, ...endpoint } = await createEndpoint(sql, managerOf(request), request.body, reach)
      return reply.code(201).send({ ...describeEndpoint(endpoint), secret: formatSecret(secret) })
    },
  )

  app.get(
    '/v1/webhooks',
    {
      schema: {
        operationId: 'listWebhooks',
        summary: 'Your webhooks, newest first; with an admin key everybody’s',
        tags,
        querystring: closed({ ...PageQuery, cursor: Type.Optional(Cursor) }),
        response: { 200: Page(Webhook), ...problems('INVALID_REQUEST', ...who) },
      },
    },
    async (request) => {
      const { keyId, admin } = managerOf(request)
      const { cursor, limit = PAGE_SIZE } = request.query
      const before = cursor === undefined ? null : parseNumbered('hook', cursor)
      const rows = await sql<Endpoint[]>`
        select ${endpointColumns(sql)} from webhook_endpoints w
        where (${admin} or key_id = ${keyId}) and (${before}::bigint is null or id < ${before}) order by id desc limit ${limit + 1}`
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        items: page.map(describeEndpoint),
        nextCursor: rows.length > limit && last ? formatEndpointId(last.id) : null,
      }
    },
  )

  app.get(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'getWebhook',
        summary: 'A webhook as it is now',
        tags,
        params: IdParam,
        response: { 200: Webhook, ...problems(...who, 'NOT_FOUND') },
      },
    },
    async (request) => describeEndpoint(await findEndpoint(sql, request.params.id, managerOf(request))),
  )

  app.patch(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'changeWebhook',
        summary: 'Change where a webhook goes, what it tells, or whether it does',
        description: 'Events of the time it was disabled are not sent by themselves; ask for a replay.',
        tags,
        params: IdParam,
        body: closed({
          url: Type.Optional(Url),
          description: Type.Optional(Description),
          events: Type.Optional(EventNames),
          status: Type.Optional(Status),
        }),
        response: { 200: Webhook, ...problems('INVALID_REQUEST', ...who, 'NOT_FOUND', 'WEBHOOK_URL_REFUSED') },
      },
    },
    async (request) => {
      const endpoint = await findEndpoint(sql, request.params.id, managerOf(request))
      return describeEndpoint(await changeEndpoint(sql, endpoint, request.body, reach))
    },
  )

  app.delete(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Take a webhook away, with what is still to be sent to it',
        tags,
        params: IdParam,
        response: { 204: Type.Null(), ...problems(...who, 'NOT_FOUND') },
      },
    },
    async (request, reply) => {
      await deleteEndpoint(sql, await findEndpoint(sql, request.params.id, managerOf(request)))
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/webhooks/:id/rotate-secret',
    {
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'A new secret; the one before signs along for a while',
        tags,
        params: IdParam,
        body: closed({
          keepPreviousSeconds: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 7 * DAY_S, default: DAY_S, description: '0: the old one got known.' }),
          ),
        }),
        response: {
          200: Type.Object({ secret: Type.String(), previousSecretUntil: Time }),
          ...problems('INVALID_REQUEST', ...who, 'NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const endpoint = await findEndpoint(sql, request.params.id, managerOf(request))
      const { secret, previousUntil } = await rotateSecret(sql, endpoint, request.body.keepPreviousSeconds ?? DAY_S)
      return { secret: formatSecret(secret), previousSecretUntil: previousUntil }
    },
  )
}
