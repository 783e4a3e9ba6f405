// Keys for partners, box offices, scanners and other admins: made, listed, revoked.
import Type from 'typebox'
import { type App, closed, IdParam, named, PAGE_SIZE, Page, PageQuery, problems, Time } from '#core/http.ts'
import { formatNumbered, parseNumbered } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import { createApiKey, type ListedKey, listApiKeys, revokeApiKey } from '#identity/api-keys.ts'
import { requireRole } from '#identity/caller.ts'

const Roles = Type.Array(Type.Enum(['admin', 'box_office', 'partner', 'scanner']), {
  minItems: 1,
  maxItems: 4,
  uniqueItems: true,
})

const apiKey = {
  id: Type.String(),
  name: Type.String(),
  roles: Roles,
  status: Type.Enum(['ACTIVE', 'REVOKED']),
  createdAt: Time,
  revokedAt: Type.Union([Type.String(), Type.Null()]),
}
const ApiKey = named('ApiKey', Type.Object(apiKey))
const NewApiKey = named(
  'NewApiKey',
  Type.Object({ ...apiKey, key: Type.String({ description: 'The key itself, shown only here.' }) }),
)

// The last id of the page before.
const Cursor = Type.String({ pattern: '^key_[1-9][0-9]{0,14}$' })

export function keyRoutes(app: App, { sql }: { sql: Sql }): void {
  const tags = ['Admin']

  app.post(
    '/v1/admin/api-keys',
    {
      schema: {
        operationId: 'createApiKey',
        summary: 'Make an API key',
        description: 'The key is in this answer and nowhere else: only its hash is kept.',
        tags,
        body: closed({ name: Type.String({ minLength: 1, maxLength: 100 }), roles: Roles }),
        response: { 201: NewApiKey, ...problems('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN') },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      const { key, ...made } = await createApiKey(sql, request.body)
      return reply.code(201).send({ ...describe({ ...made, revokedAt: null }), key })
    },
  )

  app.get(
    '/v1/admin/api-keys',
    {
      schema: {
        operationId: 'listApiKeys',
        summary: 'All API keys, newest first',
        tags,
        querystring: closed({ ...PageQuery, cursor: Type.Optional(Cursor) }),
        response: { 200: Page(ApiKey), ...problems('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN') },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      const { cursor, limit = PAGE_SIZE } = request.query
      const before = cursor === undefined ? null : parseNumbered('key', cursor)
      const keys = await listApiKeys(sql, { before, limit: limit + 1 })
      const items = keys.slice(0, limit).map(describe)
      return { items, nextCursor: keys.length > limit ? (items.at(-1)?.id ?? null) : null }
    },
  )

  app.delete(
    '/v1/admin/api-keys/:id',
    {
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'It stops working within seconds. Revoking again is a success.',
        tags,
        params: IdParam,
        response: { 204: Type.Null(), ...problems('UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'LAST_ADMIN_KEY') },
      },
    },
    async (request, reply) => {
      requireRole(request, 'admin')
      await revokeApiKey(sql, parseNumbered('key', request.params.id))
      return reply.code(204).send(null)
    },
  )
}

function describe({ keyId, name, roles, createdAt, revokedAt }: ListedKey) {
  const status: 'ACTIVE' | 'REVOKED' = revokedAt === null ? 'ACTIVE' : 'REVOKED'
  return { id: formatNumbered('key', keyId), name, roles, status, createdAt, revokedAt }
}
