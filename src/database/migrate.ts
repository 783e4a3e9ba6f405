// Brings a database to this version: numbered migrations once each, then the SQL functions of all rooms whenever their text changed.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sql, Tx } from './connect.ts'
import { StartRefused } from './start-refused.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/
const SERVER_VERSION_MIN = 15
// Any number will do, as long as every Holdfast process asks for the same one.
const MIGRATION_LOCK = 4_207_117

/** The function that every expiry decision asks for the time; tests replace it in their own database. */
export const databaseClockFunction = 'holdfast_now()'

type SqlFile = { name: string; text: string; checksum: string }
export type Migrated = { migrations: string[]; functions: string[] }

/**
 * Applies what is missing and answers what it applied; nothing when all is current. Safe with any number of processes at once, and with a
 * pool of one connection. Each file is one transaction: a failing one leaves no trace, and the next start goes on from there.
 * Refuses (StartRefused) a server older than PostgreSQL 15, an applied file whose text has changed, and a database newer than this version.
 */
export async function migrate(sql: Sql): Promise<Migrated> {
  const [server] = await sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`
  refuseOldServer(server?.version ?? 0)
  await sql.begin(async (tx) => {
    await lockMigrations(tx)
    await tx`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default clock_timestamp())`
    await tx`create table if not exists schema_functions (
      name text primary key, checksum text not null, applied_at timestamptz not null default clock_timestamp())`
  })

  const migrations = readMigrations()
  await refuseNewerDatabase(sql, migrations)
  const done: Migrated = { migrations: [], functions: [] }
  for (const file of migrations) {
    if (await sql.begin((tx) => applyMigration(tx, file))) done.migrations.push(file.name)
  }
  done.functions = await sql.begin((tx) => applyFunctions(tx, readFunctions()))
  return done
}

/** What `migrate` would still have to apply: empty when this database fits this version. */
export async function pendingMigrations(tx: Tx): Promise<string[]> {
  const applied = await tx<{ name: string; checksum: string }[]>`
    select name, checksum from schema_migrations union all select name, checksum from schema_functions`
  const known = new Map(applied.map((row) => [row.name, row.checksum]))
  return [...readMigrations(), ...readFunctions()]
    .filter((file) => known.get(file.name) !== file.checksum)
    .map((file) => file.name)
}

/** Changes with every migration and function: what a database made by `migrate` can be kept under. */
export function schemaFingerprint(): string {
  const checksums = [...readMigrations(), ...readFunctions()].map((file) => `${file.name} ${file.checksum}`)
  return createHash('sha256').update(checksums.join('\n')).digest('hex').slice(0, 16)
}

/** `version` as PostgreSQL numbers it: 150020 is 15.20. */
export function refuseOldServer(version: number): void {
  const major = Math.floor(version / 10_000)
  if (major < SERVER_VERSION_MIN)
    throw new StartRefused(
      `The database is PostgreSQL ${major}; Holdfast needs ${SERVER_VERSION_MIN} or later. Upgrade the server, or leave DATABASE_URL empty to use the embedded one.`,
    )
}

// Held until the end of the transaction; whoever comes second finds the work done.
async function lockMigrations(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
}

async function refuseNewerDatabase(sql: Sql, files: SqlFile[]): Promise<void> {
  const names = files.map((file) => file.name)
  const [unknown] = await sql<{ name: string }[]>`
    select name from schema_migrations where name <> all (${names}::text[]) order by name limit 1`
  if (unknown)
    throw new StartRefused(
      `The database was migrated by a newer Holdfast (${unknown.name} is not part of this one). Start that version, or use another database.`,
    )
}

async function applyMigration(tx: Tx, file: SqlFile): Promise<boolean> {
  await lockMigrations(tx)
  const [applied] = await tx<{ checksum: string }[]>`select checksum from schema_migrations where name = ${file.name}`
  if (applied) {
    if (applied.checksum === file.checksum) return false
    throw new StartRefused(
      `migrations/${file.name} was applied to this database and has changed since. Restore its text and put the change into a new file.`,
    )
  }
  await tx.unsafe(file.text)
  await tx`insert into schema_migrations (name, checksum) values (${file.name}, ${file.checksum})`
  return true
}

// All in one transaction, so that no call ever sees half of them. `create or replace` keeps a function's arguments and result: a file that
// changes these begins with `drop function if exists` of the old ones.
async function applyFunctions(tx: Tx, files: SqlFile[]): Promise<string[]> {
  await lockMigrations(tx)
  const rows = await tx<{ name: string; checksum: string }[]>`select name, checksum from schema_functions`
  const known = new Map(rows.map((row) => [row.name, row.checksum]))
  const changed = files.filter((file) => known.get(file.name) !== file.checksum)
  for (const file of changed) {
    await tx.unsafe(file.text)
    await tx`insert into schema_functions (name, checksum) values (${file.name}, ${file.checksum})
      on conflict (name) do update set checksum = excluded.checksum, applied_at = clock_timestamp()`
  }
  return changed.map((file) => file.name)
}

function readMigrations(): SqlFile[] {
  const names = readdirSync(join(ROOT, 'migrations')).filter((name) => name.endsWith('.sql'))
  const odd = names.find((name) => !MIGRATION_NAME.test(name))
  if (odd) throw new Error(`migrations/${odd} is not named NNNN_words.sql`)
  return names.sort().map((name) => readSqlFile(name, join(ROOT, 'migrations', name)))
}

function readFunctions(): SqlFile[] {
  const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return rooms
    .flatMap((room) => sqlNames(join(ROOT, 'src', room.name, 'sql')).map((name) => `src/${room.name}/sql/${name}`))
    .sort()
    .map((name) => readSqlFile(name, join(ROOT, name)))
}

function sqlNames(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.sql'))
  } catch {
    return [] // Most rooms have no functions.
  }
}

function readSqlFile(name: string, path: string): SqlFile {
  const text = readFileSync(path, 'utf8')
  return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
}
