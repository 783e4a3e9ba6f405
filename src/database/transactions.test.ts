// Transactions where the driver's own failed: more at once than there are connections, and connections lost inside one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { freshDatabase } from '#test/support/database.ts'

test('a hundred transactions and a hundred statements at once on a pool of three: all done, none refused', async (t) => {
  const db = await freshDatabase(t)
  await db.sql`create table marks (n int)`
  const sql = db.connect(3)
  const transactions = Array.from({ length: 100 }, (_, n) =>
    sql.begin(async (tx) => {
      await tx`insert into marks values (${n})`
      const [row] = await tx<{ count: number }[]>`select count(*)::int as count from marks where n = ${n}`
      return row?.count
    }),
  )
  const statements = Array.from({ length: 100 }, (_, n) => sql<{ n: number }[]>`select ${n}::int as n`)
  assert.deepEqual(new Set(await Promise.all(transactions)), new Set([1]))
  assert.deepEqual(
    (await Promise.all(statements)).map(([row]) => row?.n),
    [...Array(100).keys()],
  )
  const [kept] = await db.sql<{ count: number }[]>`select count(*)::int as count from marks`
  assert.equal(kept?.count, 100)
})

test('what the work throws rolls back and is thrown on; the connection serves the next', async (t) => {
  const db = await freshDatabase(t)
  await db.sql`create table marks (n int unique)`
  const sql = db.connect(1)
  const own = new Error('not today')
  await assert.rejects(
    sql.begin(async (tx) => {
      await tx`insert into marks values (1)`
      throw own
    }),
    own,
  )
  await assert.rejects(
    sql.begin((tx) => tx`insert into marks values (2), (2)`),
    { code: '23505' },
  )
  assert.equal((await sql.begin((tx) => tx`select * from marks`)).length, 0)
})

for (const when of ['while a statement runs', 'between two statements', 'just before the commit']) {
  test(`a connection that is lost ${when} ends that transaction only, and not the process`, async (t) => {
    const db = await freshDatabase(t)
    await db.sql`create table marks (n int)`
    const sql = db.connect(1)
    const kill = (pid: number | undefined) => db.sql`select pg_terminate_backend(${pid ?? 0})`
    const lost = sql.begin(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      await tx`insert into marks values (1)`
      if (when === 'while a statement runs') {
        setTimeout(() => kill(row?.pid).execute(), 50)
        await tx`select pg_sleep(5)`
      }
      await kill(row?.pid)
      await pause(100)
      if (when === 'between two statements') await tx`select 1`
    })
    await assert.rejects(lost, /CONNECTION_CLOSED|terminating connection/)
    const [after] = await sql.begin((tx) => tx<{ count: number }[]>`select count(*)::int as count from marks`)
    assert.equal(after?.count, 0)
  })
}

test('the end of a pool waits for what runs, then refuses', async (t) => {
  const db = await freshDatabase(t)
  const sql = db.connect(2)
  const running = sql.begin(async (tx) => {
    await tx`select pg_sleep(0.2)`
    return 'done'
  })
  await pause(50)
  await sql.end({ timeout: 5 })
  assert.equal(await running, 'done')
  await assert.rejects(Promise.resolve(sql`select 1`), { code: 'CONNECTION_ENDED' })
})
