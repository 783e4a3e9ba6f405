// A database is brought to this version once, by any number of processes, and what does not fit is refused in a sentence.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import { migrate, pendingMigrations, refuseOldServer } from './migrate.ts'

async function emptied(t: Parameters<typeof freshDatabase>[0]): Promise<TestDatabase> {
  const db = await freshDatabase(t)
  await db.sql.unsafe('drop schema public cascade; create schema public')
  return db
}

test('an empty database gets everything, a current one nothing', async (t) => {
  const { sql } = await emptied(t)
  const first = await migrate(sql)
  assert.ok(first.migrations.includes('0001_inventory.sql'))
  assert.ok(first.functions.some((name) => name.startsWith('src/inventory/sql/')))
  assert.deepEqual(await migrate(sql), { migrations: [], functions: [] })
  assert.deepEqual(await pendingMigrations(sql), [])
})

test('eight processes at once: each file is applied once and nobody fails', async (t) => {
  const db = await emptied(t)
  const all = await Promise.all(Array.from({ length: 8 }, () => migrate(db.connect(1))))
  const applied = all.flatMap((one) => [...one.migrations, ...one.functions])
  assert.equal(applied.length, new Set(applied).size)
  assert.ok(applied.length > 3)
})

test('a changed function is applied again, a changed migration is refused', async (t) => {
  const { sql } = await freshDatabase(t)
  const [one] = await sql<{ name: string }[]>`
    update schema_functions set checksum = 'old' where name = (select min(name) from schema_functions) returning name`
  assert.deepEqual(await pendingMigrations(sql), [one?.name])
  assert.deepEqual((await migrate(sql)).functions, [one?.name])

  await sql`update schema_migrations set checksum = 'old' where name = '0001_inventory.sql'`
  await assert.rejects(migrate(sql), {
    name: 'StartRefused',
    message: /^migrations\/0001_inventory\.sql was applied to this database and has changed since\./,
  })
})

test('a database of a newer version is refused, naming the file that is not ours', async (t) => {
  const { sql } = await freshDatabase(t)
  await sql`insert into schema_migrations (name, checksum) values ('9999_tomorrow.sql', 'x')`
  await assert.rejects(migrate(sql), { name: 'StartRefused', message: /newer Holdfast \(9999_tomorrow\.sql/ })
})

test('PostgreSQL 14 is refused, 15 and 18 are not', () => {
  assert.throws(() => refuseOldServer(140_019), {
    name: 'StartRefused',
    message: /^The database is PostgreSQL 14; Holdfast needs 15/,
  })
  refuseOldServer(150_000)
  refuseOldServer(180_004)
})
