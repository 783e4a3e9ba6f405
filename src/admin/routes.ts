// The doors of those who run a house, for keys with a role.
import type { App } from '#core/http.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { auditRoutes } from './audit-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { outboxRoutes } from './outbox-routes.ts'
import { reconciliationRoutes } from './reconciliation-routes.ts'
import { settlementRoutes } from './settlement-routes.ts'
import { worklistRoutes } from './worklist-routes.ts'

export function adminRoutes(app: App, parts: { sql: Sql; wake: (worker: string) => void }): void {
  // Nobody without a key gets as far as having their body read; which role it needs is each door's to say.
  app.addHook('onRequest', ({ caller, routeOptions }, _reply, done) => {
    if (!routeOptions.url?.startsWith('/v1/admin/') || caller.kind === 'key') return done()
    done(new Problem(caller.kind === 'anonymous' ? 'UNAUTHENTICATED' : 'FORBIDDEN'))
  })
  keyRoutes(app, parts)
  worklistRoutes(app, parts)
  settlementRoutes(app, parts)
  reconciliationRoutes(app, parts)
  auditRoutes(app, parts)
  outboxRoutes(app, parts)
}
