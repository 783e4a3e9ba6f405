// Real Redis servers for tests: one, or a cluster of three. The program is the machine's own, or Debian's package unpacked once into .runtime.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'

const ROOT = new URL('../..', import.meta.url).pathname
const UNPACKED = join(ROOT, '.runtime', 'redis')
// The server with the libraries it is linked to.
const PACKAGES = [
  'redis-server',
  'redis-tools',
  'liblzf1',
  'libjemalloc2',
  'liblua5.1-0',
  'lua-bitop',
  'lua-cjson',
  'libatomic1',
]
const START_MS = 30_000

export type TestRedis = {
  url: string
  port: number
  /** Runs it again after a stop, on the same port and empty. */
  start(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGSTOP: it holds its connections and answers nothing. */
  hang(): void
  /** SIGCONT. */
  goOn(): void
}

/** One server on a free port of its own, gone when the test ends. */
export async function startRedis(t: Pick<TestContext, 'after'>, extra: string[] = []): Promise<TestRedis> {
  const program = findRedis()
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-redis-'))
  let child: ChildProcess | null = null
  const kill = async () => {
    const running = child
    child = null
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const gone = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await gone
  }
  const start = async () => {
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
      ...extra,
    ]
    child = spawn(program.path, args, { stdio: 'ignore', env: { ...process.env, ...program.env } })
    await untilAnswering(port)
  }
  t.after(async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    start,
    kill,
    hang: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
  }
}

/** Three masters that share the slots, without replicas. */
export async function startRedisCluster(
  t: Pick<TestContext, 'after'>,
): Promise<{ urls: string[]; nodes: TestRedis[] }> {
  const options = [
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    '1000',
    '--cluster-require-full-coverage',
    'no',
  ]
  const nodes = await Promise.all([1, 2, 3].map(() => startRedis(t, options)))
  const clients = nodes.map(({ url }) => new Redis(url))
  // Whatever happens: a client whose server is gone tries for ever, and its test file never ends.
  t.after(() => {
    for (const client of clients) client.disconnect()
  })
  for (const client of clients) client.on('error', () => {})
  const [first] = nodes
  for (const [at, client] of clients.entries()) {
    const from = Math.floor((16_384 * at) / 3)
    const to = Math.floor((16_384 * (at + 1)) / 3) - 1
    await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
    if (at > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', first?.port ?? 0)
  }
  for (const client of clients) {
    await until(async () => String(await client.call('CLUSTER', 'INFO')).includes('cluster_known_nodes:3'))
    await until(async () => String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok'))
    client.disconnect()
  }
  return { urls: nodes.map(({ url }) => url), nodes }
}

/** Until this client has its answers, of every node that is up: connecting takes a moment, and a cluster's map of slots another. */
export async function untilReady(redis: Redis | Cluster): Promise<void> {
  await until(async () => {
    if (!(redis instanceof Cluster)) return (await redis.ping()) === 'PONG'
    for (let show = 0; show < 50; show++) await redis.set(`{${show}}:ready`, 1, 'PX', 1_000)
    return true
  })
}

function findRedis(): { path: string; env: Record<string, string> } {
  if (spawnSync('redis-server', ['--version']).status === 0) return { path: 'redis-server', env: {} }
  const path = join(UNPACKED, 'usr', 'bin', 'redis-server')
  if (!existsSync(path)) unpackRedis()
  if (!existsSync(path))
    throw new Error(
      'No redis-server: install Redis 6.2 or later (Debian: apt-get install redis-server) and run the tests again.',
    )
  const libraries = readdirSync(join(UNPACKED, 'usr', 'lib')).map((folder) => join(UNPACKED, 'usr', 'lib', folder))
  return { path, env: { LD_LIBRARY_PATH: libraries.join(':') } }
}

// Needs no rights beyond this folder; a machine whose package lists are empty gets them first, where it may.
function unpackRedis(): void {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-packages-'))
  const download = () => spawnSync('apt-get', ['download', ...PACKAGES], { cwd: folder, encoding: 'utf8' })
  if (download().status !== 0) {
    spawnSync('apt-get', ['update', '-q'], { encoding: 'utf8' })
    download()
  }
  const building = mkdtempSync(join(tmpdir(), 'holdfast-redis-'))
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
    spawnSync('dpkg-deb', ['-x', join(folder, file), building])
  mkdirSync(join(ROOT, '.runtime'), { recursive: true })
  // Two test files may unpack at once: the copy is the same, so the second one changes nothing.
  if (!existsSync(UNPACKED)) spawnSync('cp', ['-a', building, UNPACKED])
  for (const path of [folder, building]) rmSync(path, { recursive: true, force: true })
}

async function untilAnswering(port: number): Promise<void> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
  })
  client.on('error', () => {})
  await until(async () => (await client.ping()) === 'PONG').finally(() => client.disconnect())
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + START_MS
  while (!(await holds().catch(() => false))) {
    if (performance.now() > endMs) throw new Error('Redis did not get ready in time')
    await sleep(50)
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    // A cluster node listens on port + 10,000, too.
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    probe.once('error', () => resolve(freePort()))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(port)))
  })
}
