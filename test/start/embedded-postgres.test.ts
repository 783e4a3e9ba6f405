// The embedded PostgreSQL starts again after whatever has happened to it, keeps what it acknowledged, and says in one sentence why it does not.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from '#database/connect.ts'
import { attachEmbeddedPostgres, type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded.ts'
import { layKeptCluster, makeTestFolder } from '#test/support/cluster.ts'

const STAY_UP = fileURLToPath(new URL('./stay-up.ts', import.meta.url))
const SETTINGS = { fsync: 'off', shared_buffers: '32MB' }

test('a first start makes a database, a second one finds what was written', async (t) => {
  const dir = emptyFolder(t)
  await withServer(dir, (server) => write(server, 'kept'))
  await withServer(dir, async (server) => assert.deepEqual(await readAll(server), ['kept']))
})

test('killed outright: nothing stays running, the next start works at once and has every acknowledged row', async (t) => {
  const dir = await dataFolder(t)
  const victim = await stayUp(t, dir)
  await write(
    { options: { host: join(dir, 'postgres'), port: 5432, database: 'holdfast', username: 'holdfast' } },
    'kept',
  )
  victim.kill('SIGKILL')
  await withServer(dir, async (server) => assert.deepEqual(await readAll(server), ['kept']))
})

test('two processes, one folder: the second is refused and told who has it', async (t) => {
  const dir = await dataFolder(t)
  const first = await stayUp(t, dir)
  await assert.rejects(start(dir), {
    name: 'StartRefused',
    message: new RegExp(`is in use by process ${first.pid}\\. Stop that one first`),
  })
  first.kill('SIGTERM')
  await withServer(dir, readAll)
})

test('a command beside a running process uses its PostgreSQL and leaves it running', async (t) => {
  const dir = await dataFolder(t)
  await withServer(dir, async (server) => {
    await write(server, 'kept')
    const attached = await attachEmbeddedPostgres({ dir, log: () => {} })
    assert.deepEqual(attached.options, server.options)
    assert.deepEqual(await readAll(attached), ['kept'])
    await attached.stop()
    assert.deepEqual(await readAll(server), ['kept'])
  })
  const alone = await attachEmbeddedPostgres({ dir, log: () => {}, settings: SETTINGS })
  assert.deepEqual(await readAll(alone), ['kept'])
  await alone.stop()
})

test('a PostgreSQL that dies while we run is started again by itself', async (t) => {
  const dir = await dataFolder(t)
  await withServer(dir, async (server) => {
    await write(server, 'kept')
    process.kill(Number(readFileSync(join(dir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL')
    for (const deadlineMs = performance.now() + 20_000; ; ) {
      const rows = await readAll(server).catch(() => null)
      if (rows) return assert.deepEqual(rows, ['kept'])
      assert.ok(performance.now() < deadlineMs, 'it did not come back')
      await sleep(100)
    }
  })
})

test('a postmaster.pid whose number now belongs to another program stops nothing', async (t) => {
  const dir = await dataFolder(t)
  writeFileSync(join(dir, 'postgres/data/postmaster.pid'), `${process.pid}\n/elsewhere\n1\n5432\n`)
  writeFileSync(join(dir, 'postgres/holdfast.pid'), `${process.pid} 1`)
  await withServer(dir, readAll)
})

test('a first start that was killed half way is begun anew', async (t) => {
  const dir = emptyFolder(t)
  mkdirSync(join(dir, 'postgres/data.new/base'), { recursive: true })
  await withServer(dir, (server) => write(server, 'kept'))
})

test('a path too long for a socket works as any other', async (t) => {
  const dir = join(emptyFolder(t), 'a'.repeat(60), 'b'.repeat(60))
  mkdirSync(dir, { recursive: true })
  await layKeptCluster(dir)
  await withServer(dir, async (server) => {
    assert.ok(!server.options.host.startsWith(dir))
    assert.equal(lstatSync(server.options.host).mode & 0o777, 0o700)
    await write(server, 'kept')
  })
})

test('a folder that only we may enter: the data is kept, and where it really lies is said once', async (t) => {
  const dir = join(emptyFolder(t), 'mine')
  mkdirSync(dir)
  chmodSync(dir, 0o700)
  const lines: string[] = []
  await withServer(dir, (server) => write(server, 'kept'), lines)
  await withServer(dir, async (server) => assert.deepEqual(await readAll(server), ['kept']), lines)
  const home = realpathSync(join(dir, 'postgres'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const link = lstatSync(join(dir, 'postgres')).isSymbolicLink()
  // Only root has to lend PostgreSQL another user, who then cannot come in here.
  assert.equal(link, process.getuid?.() === 0)
  assert.equal(lines.filter((line) => line.includes('the data is kept in')).length, link ? 1 : 0)
})

const DAMAGES: [string, (data: string) => void, RegExp][] = [
  [
    'PG_VERSION is missing',
    (data) => rmSync(join(data, 'PG_VERSION')),
    /is damaged: PG_VERSION is missing\. Restore it/,
  ],
  ['PG_VERSION says nothing', (data) => writeFileSync(join(data, 'PG_VERSION'), 'x'), /PG_VERSION is not readable/],
  [
    'pg_control is cut off',
    (data) => truncateSync(join(data, 'global/pg_control'), 10),
    /does not start on .*pg_control.*restore it/,
  ],
  ['the catalog is gone', (data) => rmSync(join(data, 'base/5'), { recursive: true }), /is damaged: /],
  [
    'made by version 9',
    (data) => writeFileSync(join(data, 'PG_VERSION'), '9'),
    /made by PostgreSQL 9, and this Holdfast brings 1\d/,
  ],
]

for (const [name, damage, sentence] of DAMAGES)
  test(`a data folder that is damaged (${name}) is refused in one sentence, and stays as it is`, async (t) => {
    const dir = await dataFolder(t)
    damage(join(dir, 'postgres/data'))
    await assert.rejects(start(dir), { name: 'StartRefused', message: sentence })
    assert.ok(existsSync(join(dir, 'postgres/data')))
    assert.ok(!existsSync(join(dir, 'postgres/holdfast.pid')))
  })

function emptyFolder(t: TestContext): string {
  const dir = makeTestFolder()
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function dataFolder(t: TestContext): Promise<string> {
  const dir = emptyFolder(t)
  await layKeptCluster(dir)
  return dir
}

function start(dir: string, lines: string[] = []): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dir, log: (line) => lines.push(line), settings: SETTINGS })
}

async function withServer(
  dir: string,
  act: (server: EmbeddedPostgres) => Promise<unknown>,
  lines?: string[],
): Promise<void> {
  const server = await start(dir, lines)
  await act(server).finally(() => server.stop())
}

async function stayUp(t: TestContext, dir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [STAY_UP, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

async function write({ options }: Pick<EmbeddedPostgres, 'options'>, value: string): Promise<void> {
  const sql = connect(options, { max: 1, name: 'test' })
  await sql`create table if not exists notes (value text)`
  await sql`insert into notes values (${value})`
  await sql.end()
}

async function readAll({ options }: EmbeddedPostgres): Promise<string[]> {
  const sql = connect(options, { max: 1, name: 'test' })
  try {
    await sql`create table if not exists notes (value text)`
    return (await sql<{ value: string }[]>`select value from notes`).map((row) => row.value)
  } finally {
    await sql.end()
  }
}
