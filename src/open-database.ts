// Opens the database this installation lives in: one's own by DATABASE_URL, else the embedded one; says clearly when it cannot be had.
import type { Config } from '#config.ts'
import { connect, type PoolLimits, type ServerAddress, type Sql } from '#database/connect.ts'
import { attachEmbeddedPostgres, type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded.ts'
import { migrate } from '#database/migrate.ts'
import { StartRefused } from '#database/start-refused.ts'

export type Database = {
  /** A pool of its own limits on this database; the caller ends it. */
  connect(limits: PoolLimits): Sql
  /** Brings it to this version. */
  migrate(): Promise<{ migrations: string[]; functions: string[] }>
  /** Stops the embedded server, if we started it. */
  close(): Promise<void>
}

type Say = (sentence: string) => void

/** For the process that serves: it owns the embedded server, and is refused (StartRefused) while another process does. */
export async function openDatabase(config: Config, say: Say): Promise<Database> {
  return open(config, () => startEmbeddedPostgres({ dir: config.holdfastData, log: say }))
}

/** For a command beside it: takes part in the embedded server that runs already, and only else starts it for its own time. */
export async function joinDatabase(config: Config, say: Say): Promise<Database> {
  return open(config, () => attachEmbeddedPostgres({ dir: config.holdfastData, log: say }))
}

async function open({ databaseUrl }: Config, embedded: () => Promise<EmbeddedPostgres>): Promise<Database> {
  if (databaseUrl)
    return reachable(
      databaseAt(databaseUrl, async () => {}),
      databaseUrl,
    )
  const server = await embedded()
  return databaseAt(server.options, server.stop)
}

function databaseAt(server: ServerAddress | string, close: () => Promise<void>): Database {
  return {
    connect: (limits) => connect(server, limits),
    async migrate() {
      const sql = connect(server, { max: 1, name: 'holdfast-migrate' })
      return migrate(sql).finally(() => sql.end())
    },
    close,
  }
}

async function reachable(database: Database, url: string): Promise<Database> {
  const sql = database.connect({ max: 1, name: 'holdfast-start' })
  try {
    await sql`select 1`
    return database
  } catch (error) {
    throw unreachable(url, error)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

// The URL holds a password: only its host, port and database are ever said.
function unreachable(url: string, error: unknown): StartRefused {
  const { hostname, port, pathname } = new URL(url)
  const where = `${hostname || 'localhost'}:${port || 5432}`
  const code = String((error as { code?: unknown }).code ?? (error as Error).message)
  if (code === '3D000')
    return new StartRefused(
      `The server at ${where} has no database "${pathname.slice(1)}". Create it, or correct DATABASE_URL.`,
    )
  if (code.startsWith('28'))
    return new StartRefused(`The database at ${where} refuses the user or password of DATABASE_URL.`)
  return new StartRefused(`The database at ${where} cannot be reached (${code}). Start it, or correct DATABASE_URL.`)
}
