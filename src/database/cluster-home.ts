// Decides where the embedded PostgreSQL keeps its files, makes a new cluster there, and says clearly when what lies there cannot be used.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CLEAN_ENVIRONMENT, type PostgresBinaries, type RunAs, SYSTEM_FOLDER } from './postgres-binaries.ts'
import { StartRefused } from './start-refused.ts'

export const SOCKET_PORT = 5432
export const OWNER = 'holdfast'
// sockaddr_un holds 108 bytes on Linux and 104 on macOS, the closing zero included.
const SOCKET_PATH_MAX_BYTES = 100

/** The folder `dir/postgres`, or what it leads to: readable by whom PostgreSQL runs as and by nobody else. */
export function prepareHome(dir: string, runAs: RunAs, log: (sentence: string) => void): string {
  const home = join(resolve(dir), 'postgres')
  if (lstatSync(home, { throwIfNoEntry: false })?.isSymbolicLink()) return followLink(home)
  try {
    mkdirSync(resolve(dir), { recursive: true })
    if (!existsSync(home)) mkdirSync(home, { mode: 0o700 })
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartRefused(
      `The data folder ${home} cannot be used by this user (${(error as Error).message}). Start as the user it belongs to, or set HOLDFAST_DATA to a folder of your own.`,
      { cause: error },
    )
  }
  if (!runAs || reaches(runAs, home)) return realpathSync(home)
  if (readdirSync(home).length > 0) giveTo(runAs, home)
  if (reaches(runAs, home)) return realpathSync(home)
  return moveToSystemFolder(home, runAs, log)
}

function followLink(home: string): string {
  if (existsSync(home)) return realpathSync(home)
  throw new StartRefused(
    `${home} leads to a folder that is gone. Bring that folder back, or remove the link to begin with an empty database.`,
  )
}

// The folder itself may belong to root; what counts is whether every folder above it lets the unprivileged user through.
function reaches(runAs: NonNullable<RunAs>, home: string): boolean {
  chownSync(home, runAs.uid, runAs.gid)
  const tried = spawnSync('/bin/sh', ['-c', 'cd "$0" && test -w .', home], {
    ...runAs,
    cwd: '/',
    env: CLEAN_ENVIRONMENT,
  })
  const data = join(home, 'data')
  if (tried.status !== 0) return false
  return !existsSync(data) || statSync(data).uid === runAs.uid
}

function giveTo(runAs: NonNullable<RunAs>, folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chownSync(join(entry.parentPath, entry.name), runAs.uid, runAs.gid)
  }
}

function moveToSystemFolder(home: string, runAs: NonNullable<RunAs>, log: (sentence: string) => void): string {
  if (readdirSync(home).length > 0)
    throw new StartRefused(
      `PostgreSQL refuses to run as root, and an unprivileged user cannot reach ${home}. Open the folders above it (chmod o+x), or start Holdfast as another user.`,
    )
  const elsewhere = join(SYSTEM_FOLDER, createHash('sha256').update(home).digest('hex').slice(0, 16))
  mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 })
  mkdirSync(elsewhere, { recursive: true, mode: 0o700 })
  chownSync(elsewhere, runAs.uid, runAs.gid)
  rmdirSync(home)
  symlinkSync(elsewhere, home)
  log(
    `PostgreSQL may not run as root and its user cannot reach ${home}: the data is kept in ${elsewhere}, ${home} leads there.`,
  )
  return elsewhere
}

/** The major version that made the cluster in `data`; null when there is none yet. Refuses (StartRefused) a damaged one. */
export function clusterVersion(data: string): number | null {
  if (!existsSync(data)) return null
  const missing = ['PG_VERSION', 'global/pg_control', 'base'].find((name) => !existsSync(join(data, name)))
  if (missing) throw damaged(data, `${missing} is missing`)
  const version = Number(readFileSync(join(data, 'PG_VERSION'), 'utf8'))
  if (!Number.isInteger(version) || version <= 0) throw damaged(data, 'PG_VERSION is not readable')
  return version
}

export function damaged(data: string, fact: string, cause?: unknown): StartRefused {
  return new StartRefused(
    `The data folder ${data} is damaged: ${fact}. Restore it from a backup, or move it away to begin with an empty database.`,
    { cause },
  )
}

/** Made beside its place and moved there when whole, so that a start killed half way leaves nothing that looks like a cluster. */
export function createCluster(data: string, postgres: PostgresBinaries, runAs: RunAs, sync: boolean): void {
  const half = `${data}.new`
  rmSync(half, { recursive: true, force: true })
  // Upper and lower case of all scripts, order by code point, the same on every machine.
  const locale =
    postgres.major >= 17
      ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
      : ['--locale=C.UTF-8']
  const made = spawnSync(
    join(postgres.bin, 'initdb'),
    ['-D', half, '-U', OWNER, '-A', 'trust', '-E', 'UTF8', '-k', ...locale, ...(sync ? [] : ['--no-sync'])],
    { ...runAs, cwd: '/', env: CLEAN_ENVIRONMENT, encoding: 'utf8' },
  )
  if (made.status !== 0)
    throw new StartRefused(
      `PostgreSQL could not make a database in ${half}: ${made.error?.message ?? made.stderr.trim()}`,
    )
  renameSync(half, data)
}

/** Where the unix socket goes: the home itself, or when that path is too long for a socket, a folder of our own under the tmp folder. */
export function socketFolder(home: string, runAs: RunAs): string {
  const path = join(home, `.s.PGSQL.${SOCKET_PORT}`)
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX_BYTES && !/[",]/.test(path)) return home
  const folder = join(tmpdir(), `holdfast-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  const uid = process.getuid?.()
  // The tmp folder is everybody's: what somebody else has put under this name is not used.
  if (!found.isDirectory() || (found.uid !== uid && found.uid !== runAs?.uid))
    throw new StartRefused(`${folder} belongs to somebody else. Remove it, or use a shorter path in HOLDFAST_DATA.`)
  if (runAs) chownSync(folder, runAs.uid, runAs.gid)
  chmodSync(folder, 0o700)
  return folder
}
