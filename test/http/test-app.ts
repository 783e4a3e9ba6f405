// The whole server on a database of its own, for tests that come in by the door.
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { buildApp, type Parts } from '#app.ts'
import { type Environment, loadConfig } from '#config.ts'
import type { App } from '#core/http.ts'
import { createLog } from '#core/log.ts'
import { createMetrics } from '#core/metrics.ts'
import { noGate } from '#gate/gate.ts'
import { createApiKey } from '#identity/api-keys.ts'
import type { Role } from '#identity/caller.ts'
import { loadSecrets } from '#identity/secrets.ts'
import { signSession } from '#identity/session-token.ts'
import { createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { readPicture } from '#inventory/read-picture.ts'
import { openSeatBoards } from '#inventory/seat-boards.ts'
import { BOARD_POOL, HOT_POOL } from '#main.ts'
import { openProviders } from '#payments/providers/open-providers.ts'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import { loadTicketKey } from '#tickets/ticket-key.ts'
import { createTicketPrinter } from '#tickets/ticket-printer.ts'
import { openWaitingRooms } from '#waiting-room/waiting-rooms.ts'

export type TestApp = {
  app: App
  db: TestDatabase
  parts: Parts
  /** Headers of a new customer, or of the named one. */
  customer(customerId?: string): { authorization: string; customerId: string }
  /** Headers of a new key with these roles. */
  key(...roles: Role[]): Promise<{ authorization: string; keyId: string }>
}

/** `env` is read as the product reads its own. `changes` replaces parts, such as the log or the providers. No worker runs. */
export async function testApp(
  t: TestContext,
  env: Environment = {},
  changes: Partial<Parts> | ((parts: Parts) => Partial<Parts> | Promise<Partial<Parts>>) = {},
  addRoutes: (app: App, parts: Parts) => void = () => {},
): Promise<TestApp> {
  const db = await freshDatabase()
  const config = loadConfig({ LOG_LEVEL: 'fatal', HOLD_ATTEMPTS_PER_MINUTE: '0', ...env })
  const hot = db.connect(HOT_POOL.max, HOT_POOL)
  const combiner = createCombiner(postgresStore(hot), { picture: (id) => readPicture(hot, id) })
  const wake = () => {}
  const log = createLog(config.logLevel)
  const metrics = createMetrics()
  const printer = createTicketPrinter()
  const usual: Parts = {
    config,
    log,
    metrics,
    sql: db.sql,
    secrets: await loadSecrets(db.sql),
    redis: null,
    combiner,
    boards: openSeatBoards({ connect: () => db.connect(BOARD_POOL.max, BOARD_POOL), freshMs: 0 }),
    gate: noGate,
    providers: await openProviders({ sql: db.sql, config, wake }),
    ticketKey: await loadTicketKey(db.sql),
    printer,
    waitingRooms: await openWaitingRooms({ sql: db.sql, redis: null, log, metrics, config }),
    wake,
  }
  const parts: Parts = { ...usual, ...(typeof changes === 'function' ? await changes(usual) : changes) }
  const app = await buildApp(parts)
  addRoutes(app, parts)
  await app.ready()
  t.after(async () => {
    await app.close()
    await parts.boards.close()
    await combiner.close()
    await printer.close()
    await parts.waitingRooms.close()
    await db.drop()
  })
  return {
    app,
    db,
    parts,
    customer(customerId = `cust_${randomUUID().replaceAll('-', '')}`) {
      const { token } = signSession(parts.secrets.session, customerId, Date.now())
      return { authorization: `Bearer ${token}`, customerId }
    },
    async key(...roles) {
      const { key, keyId } = await createApiKey(db.sql, { name: roles.join(' '), roles })
      return { authorization: `Bearer ${key}`, keyId: String(keyId) }
    },
  }
}
