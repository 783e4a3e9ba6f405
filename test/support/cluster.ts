// The PostgreSQL that tests run on: started in memory or the tmp folder from a kept copy of a migrated one, gone without a trace afterwards.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, type ServerAddress } from '#database/connect.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded.ts'
import { migrate, schemaFingerprint } from '#database/migrate.ts'

const KEPT_FOLDER = fileURLToPath(new URL('../../var/test-pg', import.meta.url))
const KEPT_MS = 3_600_000
const PREFIX = 'holdfast-test-'

// No power cut is tested here, so nothing needs to reach the disk.
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  max_connections: '300',
  max_wal_size: '512MB',
}

// In memory where there is room: a database of its own takes 17 ms there, and 500 ms on a slow disk (300 files each).
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_MIN_BYTES = 2_000_000_000
const TMP_FOLDER = hasRoom(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir()

/** `address.database` is the template: migrated, and never connected to. `stop` removes the folder too. */
export async function startTestCluster(): Promise<{ address: ServerAddress; stop: () => Promise<void> }> {
  removeAbandoned()
  const dir = makeTestFolder()
  await layKeptCluster(dir)
  const server = await start(dir)
  return {
    address: server.options,
    async stop() {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** An empty folder that an unprivileged PostgreSQL can reach; whoever makes it removes it. */
export function makeTestFolder(): string {
  const dir = mkdtempSync(join(TMP_FOLDER, `${PREFIX}${process.pid}-`))
  chmodSync(dir, 0o711)
  return dir
}

/** Makes `dir` a data folder with a migrated database `holdfast`, as a first start would, only faster. */
export async function layKeptCluster(dir: string): Promise<void> {
  const kept = join(KEPT_FOLDER, schemaFingerprint())
  if (!existsSync(kept)) await makeKept(dir, kept)
  mkdirSync(join(dir, 'postgres'), { recursive: true, mode: 0o700 })
  // cp -a rather than fs.cp: it keeps the owner that PostgreSQL insists on.
  execFileSync('cp', ['-a', kept, join(dir, 'postgres', 'data')])
}

async function makeKept(dir: string, kept: string): Promise<void> {
  const server = await start(dir)
  const sql = connect(server.options, { max: 1, name: 'test-template' })
  await migrate(sql).finally(() => sql.end())
  await server.stop()
  const half = `${kept}.${process.pid}`
  mkdirSync(KEPT_FOLDER, { recursive: true })
  execFileSync('cp', ['-a', join(dir, 'postgres', 'data'), half])
  rmSync(join(dir, 'postgres'), { recursive: true })
  try {
    renameSync(half, kept)
  } catch {
    rmSync(half, { recursive: true }) // Another process was faster.
  }
  removeOlder()
}

// Not the ones that may be in use at this moment, by a test run of the text as it was a minute ago.
function removeOlder(): void {
  for (const path of readdirSync(KEPT_FOLDER).map((name) => join(KEPT_FOLDER, name)))
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) > KEPT_MS)
      rmSync(path, { recursive: true, force: true })
}

function start(dir: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dir,
    settings: SETTINGS,
    log: (line) => process.env.HOLDFAST_TEST_LOG && console.error(line),
  })
}

// A test process that was killed could not tidy up; its PostgreSQL has ended with it.
function removeAbandoned(): void {
  for (const name of readdirSync(TMP_FOLDER).filter((entry) => entry.startsWith(PREFIX))) {
    const pid = Number(name.slice(PREFIX.length).split('-')[0])
    if (pid > 0 && !isAlive(pid)) rmSync(join(TMP_FOLDER, name), { recursive: true, force: true })
  }
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > MEMORY_MIN_BYTES
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
