// Builds the server: what every request passes, then each room's routes by name, one line a room. Listens nowhere, so tests use it as it is.
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { operationsRoutes } from '#admin/operations.ts'
import { adminRoutes } from '#admin/routes.ts'
import { bookingRoutes } from '#bookings/routes.ts'
import { cinemaRoutes } from '#cinema/routes.ts'
import type { Config } from '#config.ts'
import { describeApi } from '#core/api-document.ts'
import { refuseCardNumbers } from '#core/card-numbers.ts'
import { problemOf, replyWithProblems, sendProblemDocument } from '#core/error-reply.ts'
import { type App, allNamedSchemas } from '#core/http.ts'
import { readBodiesStrictly } from '#core/json-body.ts'
import type { Metrics } from '#core/metrics.ts'
import { refuseUnderPressure } from '#core/pressure.ts'
import { answerBrokenHttp, chooseRequestId, observeRequests, oneLogger, SERVER_TIMEOUTS } from '#core/request.ts'
import { serialiseWhenAsked } from '#core/serialise.ts'
import type { Sql } from '#database/connect.ts'
import type { Gate } from '#gate/gate.ts'
import { holdRoutes } from '#holds/routes.ts'
import { recogniseCallers } from '#identity/recognise-caller.ts'
import { identityRoutes } from '#identity/routes.ts'
import type { Secrets } from '#identity/secrets.ts'
import type { Combiner } from '#inventory/combiner.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import { createLimits } from '#limits/create-limits.ts'
import { loyaltyRoutes } from '#loyalty/routes.ts'
import { mailRoutes } from '#mail/routes.ts'
import type { Providers } from '#payments/providers/provider.ts'
import { paymentRoutes } from '#payments/routes.ts'
import { promotionRoutes } from '#promotions/routes.ts'
import type { Redis } from '#redis/connect-redis.ts'
import { ticketRoutes } from '#tickets/routes.ts'
import type { TicketKey } from '#tickets/ticket-key.ts'
import type { TicketPrinter } from '#tickets/ticket-printer.ts'
import { waitingRoomRoutes } from '#waiting-room/routes.ts'
import type { WaitingRooms } from '#waiting-room/waiting-rooms.ts'
import { webhookRoutes } from '#webhooks/routes.ts'
import { frontPage } from './front-page.ts'

/** What the process is made of; each room takes what it needs of it. */
export type Parts = {
  config: Config
  log: FastifyBaseLogger
  metrics: Metrics
  /** The pool for everything but the combiner's batches. */
  sql: Sql
  secrets: Secrets
  /** Shared by several processes; null: this one knows only itself. */
  redis: Redis | null
  combiner: Combiner
  /** Live pictures of what somebody looks at; asked before the gate. */
  boards: SeatBoards
  /** Asked before the combiner. */
  gate: Gate
  providers: Providers
  ticketKey: TicketKey
  printer: TicketPrinter
  waitingRooms: WaitingRooms
  /** Tells a worker that there is something to do. */
  wake: (worker: string) => void
}

export async function buildApp(parts: Parts): Promise<App> {
  const { config, log, metrics } = parts
  const app: App = Fastify({
    ...SERVER_TIMEOUTS,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: config.httpBodyMaxBytes,
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    genReqId: chooseRequestId,
    childLoggerFactory: oneLogger,
    schemaController: { compilersFactory: { buildSerializer: serialiseWhenAsked } },
    // Nothing a client sends is quietly changed to fit: no coercion, no dropping of unknown fields.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true } },
    frameworkErrors: (error, request, reply) => {
      sendProblemDocument(reply, problemOf(error), request.id)
    },
    clientErrorHandler: answerBrokenHttp,
  }).withTypeProvider<TypeBoxTypeProvider>()

  for (const schema of allNamedSchemas()) app.addSchema(schema)
  observeRequests(app, metrics, config)
  replyWithProblems(app, metrics)
  refuseUnderPressure(app, config, metrics)
  readBodiesStrictly(app)
  refuseCardNumbers(app)
  await app.register(cookie)
  if (config.corsOrigins.length > 0) {
    await app.register(cors, {
      origin: config.corsOrigins,
      credentials: true,
      exposedHeaders: ['etag', 'retry-after', 'ratelimit', 'ratelimit-policy', 'x-request-id', 'idempotent-replayed'],
    })
  }
  await describeApi(app, config)
  recogniseCallers(app, parts)

  const doors = { ...parts, limits: createLimits(parts) }
  frontPage(app, config)
  operationsRoutes(app, doors)
  identityRoutes(app, doors)
  adminRoutes(app, doors)
  cinemaRoutes(app, doors)
  waitingRoomRoutes(app, doors)
  holdRoutes(app, doors)
  paymentRoutes(app, doors)
  bookingRoutes(app, doors)
  promotionRoutes(app, doors)
  ticketRoutes(app, doors)
  webhookRoutes(app, doors)
  mailRoutes(app, doors)
  loyaltyRoutes(app, doors)
  return app
}
