// What a person must look at: money and messages that fit nothing, with the facts, until somebody says what was done about it.
import Type from 'typebox'
import { type App, closed, IdParam, named, PAGE_SIZE, Page, PageQuery, problems, Time } from '#core/http.ts'
import { formatNumbered, parseNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { requireRole } from '#identity/caller.ts'
import { resolveWorklistItem } from '#payments/resolve-worklist-item.ts'

const WorklistItem = named(
  'WorklistItem',
  Type.Object({
    id: Type.String(),
    status: Type.Enum(['OPEN', 'RESOLVED']),
    kind: Type.String(),
    facts: Type.Object({}, { additionalProperties: true }),
    createdAt: Time,
    resolvedAt: Type.Union([Type.String(), Type.Null()]),
    resolvedBy: Type.Union([Type.String(), Type.Null()]),
    resolution: Type.Union([Type.String(), Type.Null()]),
  }),
)
const ResolveBody = closed({
  resolution: Type.String({ minLength: 1, maxLength: 500, description: 'What was done about it; names nobody.' }),
})

// The last id of the page before.
const Cursor = Type.String({ pattern: '^work_[1-9][0-9]{0,14}$' })

type Row = {
  id: number
  kind: string
  facts: Record<string, unknown>
  createdAt: string
  resolvedAt: string | null
  resolvedBy: string | null
  resolution: string | null
}

export function worklistRoutes(app: App, { sql }: { sql: Sql }): void {
  const tags = ['Admin']

  app.get(
    '/v1/admin/worklist',
    {
      schema: {
        operationId: 'listWorklist',
        summary: 'What a person must look at, newest first',
        tags,
        querystring: closed({
          ...PageQuery,
          cursor: Type.Optional(Cursor),
          status: Type.Optional(Type.Enum(['OPEN', 'RESOLVED'])),
        }),
        response: { 200: Page(WorklistItem), ...problems('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN') },
      },
    },
    async (request) => {
      requireRole(request, 'admin')
      const { cursor, limit = PAGE_SIZE, status } = request.query
      const before = cursor === undefined ? null : parseNumbered('work', cursor)
      const rows = await sql<Row[]>`
        select id, kind, facts, created_at, resolved_at, resolved_by, resolution from worklist
        where (${before}::bigint is null or id < ${before})
          and (${status ?? null}::text is null or (resolved_at is null) = (${status ?? null} = 'OPEN'))
        order by id desc limit ${limit + 1}`
      const items = rows.slice(0, limit).map(describe)
      return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
    },
  )

  app.post(
    '/v1/admin/worklist/:id/resolve',
    {
      schema: {
        operationId: 'resolveWorklistItem',
        summary: 'Say that an item is dealt with, and how',
        tags,
        params: IdParam,
        body: Type.Union([ResolveBody, Type.Null()]),
        response: { 200: WorklistItem, ...problems('INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND') },
      },
    },
    async (request) => {
      const { keyId, name } = requireRole(request, 'admin')
      const id = parseNumbered('work', request.params.id)
      const by = `${formatNumbered('key', keyId)} ${name}`
      await resolveWorklistItem(sql, id, by, request.body?.resolution ?? null)
      const [row] = await sql<Row[]>`
        select id, kind, facts, created_at, resolved_at, resolved_by, resolution from worklist where id = ${id}`
      if (!row) throw new Problem('NOT_FOUND')
      return describe(row)
    },
  )
}

function describe(row: Row) {
  const status: 'OPEN' | 'RESOLVED' = row.resolvedAt === null ? 'OPEN' : 'RESOLVED'
  return { ...row, id: formatNumbered('work', row.id), status }
}
