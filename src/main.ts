// The process: configuration -> database -> parts -> doors and workers; closed in the reverse order, whatever was reached.
import { createServer } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { buildApp, type Parts } from '#app.ts'
import { loadDemoData } from '#cinema/demo/load-demo-data.ts'
import type { Config } from '#config.ts'
import type { App } from '#core/http.ts'
import { createMetrics, type Metrics } from '#core/metrics.ts'
import type { RunningWorkers } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import { StartRefused } from '#database/start-refused.ts'
import { openGate } from '#gate/open-gate.ts'
import { ensureConfiguredAdminKey, makeFirstAdminKey } from '#identity/api-keys.ts'
import { loadSecrets } from '#identity/secrets.ts'
import { createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { readPicture } from '#inventory/read-picture.ts'
import { openSeatBoards } from '#inventory/seat-boards.ts'
import { registerSinks } from '#outbox/register-sinks.ts'
import { openProviders } from '#payments/providers/open-providers.ts'
import { connectRedis } from '#redis/connect-redis.ts'
import { loadTicketKey } from '#tickets/ticket-key.ts'
import { createTicketPrinter } from '#tickets/ticket-printer.ts'
import { openWaitingRooms } from '#waiting-room/waiting-rooms.ts'
import { WEBHOOKS_SINK } from '#webhooks/fan-out.ts'
import { runAllWorkers, sinksFromTheStart } from './all-workers.ts'
import { joinDatabase, openDatabase } from './open-database.ts'
import { listenForWakes, wakeElsewhere } from './wake-elsewhere.ts'
import { databaseTime, watchDatabase } from './watch-database.ts'

export type Holdfast = {
  /** Where it listens, as this machine calls it; null without doors. */
  url: string | null
  app: App
  /** The first admin key, when this start made it: shown once. */
  newAdminKey: string | null
  metrics: Metrics
  /** Tells a worker that there is something to do. */
  wake(worker: string): void
  close(): Promise<void>
}

export type StartOptions = {
  config: Config
  log: FastifyBaseLogger
  /** What this process is for; several processes may share one DATABASE_URL. */
  roles?: readonly ('doors' | 'workers')[]
  /** Tells a person what takes time. */
  say?: (sentence: string) => void
  /** This is one of several processes that another one started (processes.ts): that one owns the database and the port, and runs the workers. */
  under?: { wake(worker: string): void; reportMetrics(): Promise<string> }
}

// Connections: the combiner's lanes, everything a request does besides, and the workers, so that none can starve another (B088, B089).
export const HOT_POOL = { max: 4, name: 'holdfast-hot', lockTimeoutMs: 2_000, statementTimeoutMs: 5_000 }
const DOOR_POOL = { max: 10, name: 'holdfast-doors', lockTimeoutMs: 5_000, statementTimeoutMs: 15_000 }
const WORKER_POOL = { max: 5, name: 'holdfast-workers', lockTimeoutMs: 5_000, statementTimeoutMs: 60_000 }
// What the boards ask takes milliseconds; what hangs is given up and asked anew.
export const BOARD_POOL = { max: 2, name: 'holdfast-boards', lockTimeoutMs: 1_000, statementTimeoutMs: 1_000 }
const SETUP_POOL = { max: 2, name: 'holdfast-setup' }
// Requests under way get this long before their connections are closed; the whole stop stays within 10 s.
const DRAIN_MS = 5_000

/** Refuses (StartRefused) what an operator can mend, each in one sentence; then nothing stays behind. */
export async function startHoldfast(options: StartOptions): Promise<Holdfast> {
  const closing = new AsyncDisposableStack()
  try {
    const started = await start(options, closing)
    return { ...started, close: () => closing.disposeAsync() }
  } catch (error) {
    await closing.disposeAsync()
    throw error
  }
}

async function start(
  { config: given, log, roles = ['doors', 'workers'], say = () => {}, under }: StartOptions,
  closing: AsyncDisposableStack,
): Promise<Omit<Holdfast, 'close'>> {
  const config = roles.includes('doors') && !under ? await withFreePort(given) : given
  const database = await (under ? joinDatabase(config, say) : openDatabase(config, say))
  closing.defer(() => database.close())
  await database.migrate()
  const openPool = (limits: typeof DOOR_POOL) => {
    const pool = database.connect(limits)
    closing.defer(() => pool.end({ timeout: 2 }))
    return pool
  }
  const newAdminKey = await prepare(database.connect(SETUP_POOL), config, say)
  const sql = openPool(DOOR_POOL)
  const metrics = createMetrics()
  if (under) metrics.report = under.reportMetrics
  watchDatabase(metrics, sql)

  const hot = openPool(HOT_POOL)
  const combiner = createCombiner(postgresStore(hot), {
    picture: (inventoryId) => readPicture(hot, inventoryId),
    onBatch: (size) => metrics.combinerBatch.observe(size),
  })
  closing.defer(() => combiner.close())
  const boards = openSeatBoards({ connect: () => database.connect(BOARD_POOL) })
  closing.defer(() => boards.close())
  const redis =
    config.redisUrl.length > 0
      ? connectRedis(config.redisUrl, { onError: (error) => log.warn({ err: error }, 'Redis') })
      : null
  closing.defer(() => redis?.disconnect())
  const printer = createTicketPrinter()
  closing.defer(() => printer.close())
  const waitingRooms = await openWaitingRooms({ sql, redis, log, metrics, config })
  closing.defer(() => waitingRooms.close())
  if (roles.includes('doors')) waitingRooms.start()
  let workers: RunningWorkers | null = null
  const wakeOthers = wakeElsewhere(sql)
  const wake = under?.wake ?? ((name: string) => (workers ? workers.wake(name) : wakeOthers(name)))
  const parts: Parts = {
    ...{ config, log, metrics, sql, redis, combiner, wake },
    boards,
    gate: openGate(config, redis, metrics),
    secrets: await loadSecrets(sql),
    providers: await openProviders({ sql, config, wake }),
    ticketKey: await loadTicketKey(sql),
    printer,
    waitingRooms,
  }

  const app = await buildApp(parts)
  closing.defer(() => drain(app))
  const url = roles.includes('doors') ? await listen(app, config, under !== undefined) : null
  if (roles.includes('workers')) {
    // The sandbox brings its messages to our own door; where the doors are other processes, by the address everybody uses.
    const others = (await registerSinks(sql, sinksFromTheStart(config))).filter((name) => name !== WEBHOOKS_SINK)
    if (others.length > 0) log.warn({ sinks: others }, 'events wait for sinks that this process does not have')
    const workerSql = openPool(WORKER_POOL)
    workers = runAllWorkers(workerSql, parts, `${url ?? config.publicUrl}/v1/payments/callback`)
    closing.defer(async () => workers?.stop())
    await listenForWakes(workerSql, workers.wake, log)
  }
  return { url, app, newAdminKey, metrics, wake }
}

/** Keys and demonstration, before anybody comes in. Answers the admin key it made. */
async function prepare(sql: Sql, config: Config, say: (sentence: string) => void): Promise<string | null> {
  try {
    if (config.holdfastAdminKey) await ensureConfiguredAdminKey(sql, config.holdfastAdminKey)
    const newAdminKey = config.holdfastAdminKey ? null : await makeFirstAdminKey(sql)
    if (config.demoData === 'on') {
      const { loaded, showtimes } = await loadDemoData(sql, { now: await databaseTime(sql) })
      if (loaded) say(`Loaded the demonstration: ${showtimes} showtimes in the coming days.`)
    }
    return newAdminKey
  } finally {
    await sql.end({ timeout: 2 })
  }
}

// Several processes share a port by the kernel's own dealing where there is that (Linux): what is dealt to one that is killed is refused at once, and not
// left hanging between two processes, as connections handed over by the one above would be.
async function listen(app: App, { host, port }: Config, shared: boolean): Promise<string> {
  const dealt = shared && process.platform === 'linux'
  try {
    await app.listen({ host, port, ...(dealt ? { reusePort: true } : {}) })
  } catch (error) {
    throw portRefused(error, host, port)
  }
  return localUrl(host, port)
}

export function localUrl(host: string, port: number): string {
  const everywhere = ['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost'].includes(host)
  return `http://${everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}

// Asked first, because making a database takes seconds; and PORT=0 has to become a number before anything speaks of PUBLIC_URL.
export async function withFreePort(config: Config): Promise<Config> {
  const { host, port } = config
  const probe = createServer()
  const free = await new Promise<number>((resolve, reject) => {
    probe.once('error', (error) => reject(portRefused(error, host, port)))
    probe.listen(port, host, () => resolve((probe.address() as { port: number }).port))
  })
  await new Promise((resolve) => probe.close(resolve))
  const publicUrl = port === 0 ? config.publicUrl.replace(/:0$/, `:${free}`) : config.publicUrl
  return Object.freeze({ ...config, port: free, publicUrl })
}

function portRefused(error: unknown, host: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new StartRefused(`Port ${port} is in use. Stop what uses it, or choose another: PORT=${port + 1}.`)
  if (code === 'EACCES')
    return new StartRefused(`Port ${port} may not be opened by this user. Choose one above 1023 in PORT.`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartRefused(`HOST ${host} is no address of this machine.`)
  return error
}

async function drain(app: App): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
  await app.close().finally(() => clearTimeout(cut))
}
