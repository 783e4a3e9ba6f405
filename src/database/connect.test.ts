// How the database's values look in TypeScript, and what a pool's limits do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '#test/support/database.ts'

test('times keep their microseconds as RFC 3339 text, there and back', async (t) => {
  const { sql } = await freshDatabase(t)
  const given = '2026-12-01T09:08:07.123456Z'
  const [row] = await sql<{ theTime: string; whole: string; zoned: string; never: string; several: string[] }[]>`
    select ${given}::timestamptz as the_time, '2026-12-01 10:00:00+00'::timestamptz as whole,
      '2026-12-01 10:00:00.5+05:30'::timestamptz as zoned, '-infinity'::timestamptz as never,
      array[${given}::timestamptz] as several`
  assert.equal(row?.theTime, given)
  assert.equal(row?.whole, '2026-12-01T10:00:00.000000Z')
  assert.equal(row?.zoned, '2026-12-01T04:30:00.500000Z')
  assert.equal(row?.never, '-infinity')
  assert.deepEqual(row?.several, [given])
})

test('whole numbers are numbers, up to the last safe one; beyond it the query fails', async (t) => {
  const { sql } = await freshDatabase(t)
  const [row] = await sql<{ big: number; many: number; ids: number[] }[]>`
    select 9007199254740991::bigint as big, count(*) as many, array[1, 2]::bigint[] as ids`
  assert.deepEqual({ ...row }, { big: Number.MAX_SAFE_INTEGER, many: 1, ids: [1, 2] })
  await assert.rejects(async () => await sql`select 9007199254740992::bigint as big`, /does not fit/)
})

test('dates stay text and keys inside jsonb keep their names', async (t) => {
  const { sql } = await freshDatabase(t)
  const [row] = await sql<{ releasedOn: string; theFacts: unknown }[]>`
    select date '2026-12-01' as released_on, ${sql.json({ seat_code: 'F7', inner: { a_b: 1 } })}::jsonb as the_facts`
  assert.equal(row?.releasedOn, '2026-12-01')
  assert.deepEqual(row?.theFacts, { seat_code: 'F7', inner: { a_b: 1 } })
})

test('a lock not had in time is 55P03, a statement that runs too long is 57014', async (t) => {
  const db = await freshDatabase(t)
  const hasty = db.connect(1, { lockTimeoutMs: 50, statementTimeoutMs: 200 })
  await db.sql`insert into inventories (id) values (1)`
  await db.sql.begin(async (tx) => {
    await tx`select 1 from inventories where id = 1 for update`
    await assert.rejects(async () => await hasty`select 1 from inventories where id = 1 for update`, { code: '55P03' })
  })
  await assert.rejects(async () => await hasty`select pg_sleep(2)`, { code: '57014' })
})

test('a slow query keeps no other one waiting while a connection is free', async (t) => {
  const db = await freshDatabase(t)
  const pool = db.connect(2)
  await Promise.all([pool`select 1`, pool`select pg_sleep(0.01)`])
  const slow = pool`select pg_sleep(0.5)`
  await slow.execute()
  const startedMs = performance.now()
  for (let round = 0; round < 10; round++) await pool`select 1`
  assert.ok(performance.now() - startedMs < 400)
  await slow
})
