// The ground all other tests stand on: databases of their own and a clock that moves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from './database.ts'

test('two fresh databases know nothing of each other and have every table', async (t) => {
  const [one, two] = await Promise.all([freshDatabase(t), freshDatabase(t)])
  await one.sql`insert into inventories default values`
  assert.equal((await one.sql`select 1 from inventories`).length, 1)
  assert.equal((await two.sql`select 1 from inventories`).length, 0)
})

test('the clock shifts, stands still and comes back, also for a session that has used it before', async (t) => {
  const db = await freshDatabase(t)
  const other = db.connect(1)
  const aheadMs = async () => {
    const [row] = await other<{ ms: number }[]>`
      select (extract(epoch from holdfast_now() - clock_timestamp()) * 1000)::float8 as ms`
    return row?.ms ?? Number.NaN
  }
  assert.ok(Math.abs(await aheadMs()) < 1000)
  await db.shiftClock(600_000)
  assert.ok(Math.abs((await aheadMs()) - 600_000) < 1000)

  const frozen = await db.freezeClock('2031-05-06T07:08:09.123456Z')
  assert.equal(frozen, '2031-05-06T07:08:09.123456Z')
  const [still] = await other<{ now: string }[]>`select holdfast_now() as now`
  assert.equal(still?.now, frozen)
  assert.equal(await db.freezeClock(null), frozen)

  await db.resetClock()
  assert.ok(Math.abs(await aheadMs()) < 1000)
})

test('a dropped database is gone', async () => {
  const db = await freshDatabase()
  await db.drop()
  const other = await freshDatabase()
  const left = await other.sql`select 1 from pg_database where datname = ${db.name}`
  await other.drop()
  assert.equal(left.length, 0)
})
