// A PostgreSQL of our own in a folder: no Docker, no port, as root or not, and nothing in the way of the next start.
import { existsSync, realpathSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  clusterVersion,
  createCluster,
  damaged,
  OWNER,
  prepareHome,
  SOCKET_PORT,
  socketFolder,
} from './cluster-home.ts'
import { connect, type ServerAddress } from './connect.ts'
import { lockFolder, serverOfHolder, stopOrphan } from './folder-lock.ts'
import { findPostgres, type RunAs } from './postgres-binaries.ts'
import { runServer } from './server-process.ts'
import { StartRefused } from './start-refused.ts'

const DATABASE = 'holdfast'
const NOBODY = { uid: 65534, gid: 65534 }

// fsync and synchronous_commit stay on: an acknowledged hold survives a power cut. The sizes suit a machine that also runs the app.
const SETTINGS: Record<string, string> = {
  listen_addresses: '',
  port: String(SOCKET_PORT),
  max_connections: '100',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  unix_socket_permissions: '0700',
}

export type EmbeddedOrder = {
  /** The data folder, made if missing; the database lies in `postgres` below it. */
  dir: string
  log: (sentence: string) => void
  /** PostgreSQL's own settings, over ours. */
  settings?: Record<string, string>
}

export type EmbeddedPostgres = {
  options: ServerAddress
  stop: () => Promise<void>
}

/**
 * Answers when the database `holdfast` takes connections. A server that dies while we run is started again by itself.
 * Refuses (StartRefused) a folder that is in use, damaged, of another version, or not ours to use.
 */
export async function startEmbeddedPostgres({ dir, log, settings = {} }: EmbeddedOrder): Promise<EmbeddedPostgres> {
  if (process.platform === 'win32')
    throw new StartRefused('The embedded PostgreSQL does not run on Windows. Set DATABASE_URL, or start under WSL.')
  const runAs = process.getuid?.() === 0 ? NOBODY : null
  const home = prepareHome(dir, runAs, log)
  const unlock = await lockFolder(home)
  try {
    const started = await startIn(home, runAs, { ...SETTINGS, ...settings }, log)
    return { ...started, stop: () => started.stop().finally(unlock) }
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * For commands beside a running Holdfast (audit, import): the PostgreSQL of the process that has the folder, which `stop` then leaves running;
 * without one, a PostgreSQL started for this command.
 */
export async function attachEmbeddedPostgres(order: EmbeddedOrder): Promise<EmbeddedPostgres> {
  const home = join(resolve(order.dir), 'postgres')
  const folder = existsSync(home) ? realpathSync(home) : home
  const running = serverOfHolder(folder, join(folder, 'data'))
  if (!running) return startEmbeddedPostgres(order)
  const options = { host: running.socketFolder, port: running.port, database: DATABASE, username: OWNER }
  return { options, stop: async () => {} }
}

async function startIn(
  home: string,
  runAs: RunAs,
  settings: Record<string, string>,
  log: EmbeddedOrder['log'],
): Promise<EmbeddedPostgres> {
  const data = join(home, 'data')
  const postgres = await findPostgres(runAs, clusterVersion(data))
  await stopOrphan(data, log)
  if (!existsSync(data)) {
    log(`Making a database in ${home} with PostgreSQL ${postgres.version}, once.`)
    createCluster(data, postgres, runAs, settings.fsync !== 'off')
  }

  const sockets = socketFolder(home, runAs)
  const server = await runServer({
    program: join(postgres.bin, 'postgres'),
    data,
    logFile: join(home, 'postgres.log'),
    settings: { ...settings, unix_socket_directories: `"${sockets}"` },
    runAs,
    log,
  })
  const stop = async () => {
    await server.stop()
    if (sockets !== home) rmSync(sockets, { recursive: true, force: true })
  }
  const options = { host: sockets, port: Number(settings.port), database: DATABASE, username: OWNER }
  try {
    await ensureDatabase(options)
  } catch (error) {
    await stop()
    throw damaged(data, (error as Error).message, error)
  }
  return { options, stop }
}

async function ensureDatabase(options: ServerAddress): Promise<void> {
  const sql = connect({ ...options, database: 'postgres' }, { max: 1, name: 'holdfast-start' })
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${options.database}`
    if (!found) await sql`create database ${sql(options.database)}`
  } finally {
    await sql.end()
  }
}
