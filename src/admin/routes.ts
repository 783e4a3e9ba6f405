// The doors of those who run a house, for keys with a role.
import type { App } from '#core/http.ts'
import type { Sql } from '#database/connect.ts'
import { keyRoutes } from './key-routes.ts'
import { worklistRoutes } from './worklist-routes.ts'

export function adminRoutes(app: App, parts: { sql: Sql }): void {
  keyRoutes(app, parts)
  worklistRoutes(app, parts)
}
