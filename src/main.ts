// The process: configuration -> database -> parts -> doors and workers; closed in the reverse order, whatever was reached.
import { createServer } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { buildApp, type Parts } from '#app.ts'
import { keepDemoScheduleAhead } from '#cinema/demo/keep-schedule-ahead.ts'
import { loadDemoData } from '#cinema/demo/load-demo-data.ts'
import type { Config } from '#config.ts'
import type { App } from '#core/http.ts'
import { createMetrics, type Metrics } from '#core/metrics.ts'
import { type RunningWorkers, runWorkers, type Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import { StartRefused } from '#database/start-refused.ts'
import { sweepWorker } from '#holds/sweep-holds.ts'
import { pruneAnswersWorker } from '#idempotency/answer-store.ts'
import { ensureConfiguredAdminKey, makeFirstAdminKey } from '#identity/api-keys.ts'
import { loadSecrets } from '#identity/secrets.ts'
import { createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { openDatabase } from './open-database.ts'

export type Holdfast = {
  /** Where it listens, as this machine calls it; null without doors. */
  url: string | null
  app: App
  /** The first admin key, when this start made it: shown once. */
  newAdminKey: string | null
  close(): Promise<void>
}

export type StartOptions = {
  config: Config
  log: FastifyBaseLogger
  /** What this process is for; several processes may share one DATABASE_URL. */
  roles?: readonly ('doors' | 'workers')[]
  /** Tells a person what takes time. */
  say?: (sentence: string) => void
}

// Connections: the combiner's lanes, everything a request does besides, and the workers, so that none can starve another (B088, B089).
export const HOT_POOL = { max: 4, name: 'holdfast-hot', lockTimeoutMs: 2_000, statementTimeoutMs: 5_000 }
const DOOR_POOL = { max: 10, name: 'holdfast-doors', lockTimeoutMs: 5_000, statementTimeoutMs: 15_000 }
const WORKER_POOL = { max: 5, name: 'holdfast-workers', lockTimeoutMs: 5_000, statementTimeoutMs: 60_000 }
const SETUP_POOL = { max: 2, name: 'holdfast-setup' }
// Requests under way get this long before their connections are closed; the whole stop stays within 10 s.
const DRAIN_MS = 5_000
const DEMO_INTERVAL_MS = 3_600_000

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
  { config: given, log, roles = ['doors', 'workers'], say = () => {} }: StartOptions,
  closing: AsyncDisposableStack,
): Promise<Omit<Holdfast, 'close'>> {
  const config = roles.includes('doors') ? await withFreePort(given) : given
  const database = await openDatabase(config, say)
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
  watchConnections(metrics, sql)

  const combiner = createCombiner(postgresStore(openPool(HOT_POOL)), {
    onBatch: (size) => metrics.combinerBatch.observe(size),
  })
  closing.defer(() => combiner.close())
  let workers: RunningWorkers | null = null
  const parts: Parts = {
    config,
    log,
    metrics,
    sql,
    secrets: await loadSecrets(sql),
    combiner,
    wake: (name) => workers?.wake(name),
  }

  const app = await buildApp(parts)
  closing.defer(() => drain(app))
  if (roles.includes('workers')) {
    workers = startWorkers(openPool(WORKER_POOL), parts)
    closing.defer(async () => workers?.stop())
  }
  const url = roles.includes('doors') ? await listen(app, config) : null
  return { url, app, newAdminKey }
}

/** Keys and demonstration, before anybody comes in. Answers the admin key it made. */
async function prepare(sql: Sql, config: Config, say: (sentence: string) => void): Promise<string | null> {
  try {
    if (config.holdfastAdminKey) await ensureConfiguredAdminKey(sql, config.holdfastAdminKey)
    const newAdminKey = config.holdfastAdminKey ? null : await makeFirstAdminKey(sql)
    if (config.demoData === 'on') {
      const { loaded, showtimes } = await loadDemoData(sql, { now: await clock(sql) })
      if (loaded) say(`Loaded the demonstration: ${showtimes} showtimes in the coming days.`)
    }
    return newAdminKey
  } finally {
    await sql.end({ timeout: 2 })
  }
}

function startWorkers(sql: Sql, { config, log, metrics }: Parts): RunningWorkers {
  const workers: Worker[] = [
    sweepWorker(sql, config),
    pruneAnswersWorker(sql),
    {
      name: 'demo-schedule',
      intervalMs: config.demoData === 'on' ? DEMO_INTERVAL_MS : 0,
      run: async () => keepDemoScheduleAhead(sql, { now: await clock(sql) }),
    },
  ]
  return runWorkers(workers, log, {
    onRun(worker, done, seconds) {
      metrics.workerSeconds.observe({ worker }, seconds)
      metrics.workerDone.inc({ worker }, done)
    },
    onFailure: (worker) => metrics.workerFailures.inc({ worker }),
  })
}

async function clock(sql: Sql): Promise<string> {
  const [row] = await sql<{ now: string }[]>`select holdfast_now() as now`
  if (!row) throw new Error('the database has no clock')
  return row.now
}

// postgres.js does not tell how busy a pool is; the server does.
function watchConnections(metrics: Metrics, sql: Sql): void {
  metrics.observe(
    'holdfast_database_connections_busy',
    'Connections of all Holdfast processes at work or waiting',
    async () => {
      const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity where application_name like 'holdfast-%' and state <> 'idle'`
      return row?.count ?? 0
    },
  )
}

async function listen(app: App, { host, port }: Config): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw portRefused(error, host, port)
  }
  return localUrl(host, port)
}

function localUrl(host: string, port: number): string {
  const everywhere = ['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost'].includes(host)
  return `http://${everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}

// Asked first, because making a database takes seconds; and PORT=0 has to become a number before anything speaks of PUBLIC_URL.
async function withFreePort(config: Config): Promise<Config> {
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
