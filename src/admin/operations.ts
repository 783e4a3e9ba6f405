// What a machine that runs Holdfast asks: is it alive, can it serve, how is it doing.
import Type from 'typebox'
import { type App, problems } from '#core/http.ts'
import type { Metrics } from '#core/metrics.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { pendingMigrations } from '#database/migrate.ts'

const DATABASE_PATIENCE_MS = 2_000

type Parts = { sql: Sql; metrics: Metrics; gate: { standsOpen(): boolean } }

export function operationsRoutes(app: App, { sql, metrics, gate }: Parts): void {
  const tags = ['Operations']
  const config = { whenPressed: 'never' } as const
  const status = Type.Object({ status: Type.Literal('ok') })
  const readiness = Type.Object({
    status: Type.Literal('ok'),
    gate: Type.Optional(Type.Literal('open', { description: 'Redis does not answer: slower, and as right as ever.' })),
  })
  // This process's files do not change; once the database was seen to fit them only its pulse matters.
  let migrated = false

  app.get(
    '/livez',
    { config, schema: { operationId: 'isAlive', summary: 'The process answers', tags, response: { 200: status } } },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      config,
      schema: {
        operationId: 'isReady',
        summary: 'The database answers and fits this version',
        tags,
        response: { 200: readiness, ...problems('DATABASE_UNAVAILABLE') },
      },
    },
    async () => {
      const pending = migrated
        ? await withinPatience(sql`select 1`.then(() => []))
        : await withinPatience(pendingMigrations(sql))
      if (pending.length > 0)
        throw new Problem('DATABASE_UNAVAILABLE', { detail: 'The database is not migrated to this version.' })
      migrated = true
      return { status: 'ok' as const, ...(gate.standsOpen() ? { gate: 'open' as const } : {}) }
    },
  )

  app.get(
    '/metrics',
    {
      config,
      schema: {
        operationId: 'getMetrics',
        summary: 'Numbers for Prometheus',
        tags,
        response: { 200: { description: 'Prometheus text', content: { 'text/plain': { schema: Type.String() } } } },
      },
    },
    async (_request, reply) => {
      reply.type(metrics.registry.contentType).serializer((text: unknown) => String(text))
      return reply.send(await metrics.report())
    },
  )
}

/** An answer that comes too late is none: whoever asks decides whether to send us buyers. */
async function withinPatience<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Problem('DATABASE_UNAVAILABLE', { retryAfterSeconds: 1 })),
      DATABASE_PATIENCE_MS,
    )
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
