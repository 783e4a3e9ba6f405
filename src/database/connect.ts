// Opens a pool to PostgreSQL and decides how its values look in TypeScript: whole numbers, exact times as text, camelCase column names.
import postgres from 'postgres'
import { createTransactions } from './transactions.ts'

/** What a verb writes through: a pool or an open transaction, both usable as a tagged template. */
export type Tx = postgres.ISql
/** A pool: everything of `Tx`, and `begin`, `end`, `listen`. */
export type Sql = postgres.Sql

/** Where a server is, as postgres.js wants it; `host` is a folder when the server listens on a unix socket. */
export type ServerAddress = { host: string; port: number; database: string; username: string }

export type PoolLimits = {
  /** Connections at most for single statements, and as many again for transactions; each is opened when first needed. */
  max: number
  /** Shown in pg_stat_activity. */
  name: string
  /** SQLSTATE 55P03 when a lock is not had in this time. */
  lockTimeoutMs?: number
  /** SQLSTATE 57014 when a statement runs longer. */
  statementTimeoutMs?: number
}

// A transaction left open by a bug would keep its inventory locked; the server ends it after this time.
const IDLE_IN_TRANSACTION_MS = 60_000
const CONNECT_TIMEOUT_S = 10

/**
 * `server` is an address or a `postgres://` URL. Nothing is opened before the first query, which fails with ECONNREFUSED, CONNECT_TIMEOUT,
 * 28P01 (password) or 3D000 (no such database) if the server is not to be had.
 * bigint, bigint[] -> number (throws beyond 2^53); timestamptz -> 'YYYY-MM-DDTHH:MM:SS.ffffffZ', to be compared as text; date, timestamp,
 * numeric -> text as PostgreSQL writes them. Inside jsonb nothing is renamed or parsed.
 */
export function connect(server: ServerAddress | string, limits: PoolLimits): Sql {
  const options = {
    max: limits.max,
    // A second query on a busy connection would wait for the first one although another connection is free (measured: 1,004 ms for `select 1`).
    max_pipeline: 0,
    connect_timeout: CONNECT_TIMEOUT_S,
    onnotice: () => {},
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    connection: {
      application_name: limits.name,
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      ...(limits.lockTimeoutMs === undefined ? {} : { lock_timeout: limits.lockTimeoutMs }),
      ...(limits.statementTimeoutMs === undefined ? {} : { statement_timeout: limits.statementTimeoutMs }),
    },
    types: {
      bigint: { to: 20, from: [20], serialize: String, parse: safeInteger },
      timestamptz: { to: 1184, from: [1184], serialize: timeText, parse: rfc3339 },
      // Without these two postgres.js makes a Date in the machine's own time zone of them.
      date: { to: 1082, from: [1082], serialize: String, parse: String },
      timestamp: { to: 1114, from: [1114], serialize: String, parse: String },
    },
  }
  const open = (more: object) =>
    typeof server === 'string'
      ? postgres(server, { ...options, ...more })
      : postgres({ ...server, ...options, ...more })
  const sql = open({})
  const transactions = createTransactions(() => open({ max: 1, max_pipeline: 1 }), limits.max)
  const endStatements = sql.end.bind(sql)
  return Object.assign(sql, {
    begin: transactions.begin,
    end: async (how?: { timeout?: number }) => {
      await Promise.all([endStatements(how), transactions.end(how)])
    },
  }) as Sql
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} from the database does not fit a JavaScript integer`)
  return value
}

// A Date has milliseconds only: good enough to send, never to read back and compare.
function timeText(time: string | Date): string {
  return typeof time === 'string' ? time : time.toISOString()
}

const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/

// Every session runs in UTC, so the offset is always +00. 'infinity' and years beyond 9999 stay as PostgreSQL writes them.
function rfc3339(text: string): string {
  const match = TIME.exec(text)
  return match ? `${match[1]}T${match[2]}.${(match[3] ?? '').padEnd(6, '0')}Z` : text
}
