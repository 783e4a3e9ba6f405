// A database of its own for a test, made from the migrated template in some tens of milliseconds, with a clock the test can move.
import { after } from 'node:test'
import { connect as connectTo, type PoolLimits, type ServerAddress, type Sql } from '#database/connect.ts'
import { databaseClockFunction } from '#database/migrate.ts'
import { startTestCluster } from './cluster.ts'

export type TestDatabase = {
  /** A pool of 10. */
  sql: Sql
  options: ServerAddress
  name: string
  /** Another pool on the same database, as another process would have; closed with the database. */
  connect: (max: number, limits?: Partial<PoolLimits>) => Sql
  /** holdfast_now() runs this far ahead of the real clock (negative: behind). Not added to an earlier shift. */
  shiftClock: (ms: number) => Promise<void>
  /** holdfast_now() stands still at this RFC 3339 time, or with null at what it says now. Answers that time. */
  freezeClock: (at: string | null) => Promise<string>
  resetClock: () => Promise<void>
  /** Closes every pool and drops the database; with `t` given this happens by itself after the test. */
  drop: () => Promise<void>
}

let serial = 0
let own: ReturnType<typeof startTestCluster> | undefined

// test/run.ts starts one cluster for the whole run; a file that is run by hand brings its own.
after(async () => (await own)?.stop())

export async function freshDatabase(t?: { after: (fn: () => Promise<void>) => void }): Promise<TestDatabase> {
  const template = await templateAddress()
  serial += 1
  const name = `test_${process.pid}_${serial}`
  await administer(
    template,
    (admin) => admin`create database ${admin(name)} template ${admin(template.database)} strategy file_copy`,
  )

  const options = { ...template, database: name }
  const pools: Sql[] = []
  const connect: TestDatabase['connect'] = (max, limits) => {
    const pool = connectTo(options, { name: 'test', ...limits, max })
    pools.push(pool)
    return pool
  }
  const drop = async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.end({ timeout: 1 })))
    await administer(template, (admin) => admin`drop database if exists ${admin(name)} with (force)`)
  }
  t?.after(drop)
  const sql = connect(10)
  return { sql, options, name, connect, drop, ...(await clockOf(sql)) }
}

// The product has no hook for this: the test replaces the function in its own database.
async function clockOf(sql: Sql): Promise<Pick<TestDatabase, 'shiftClock' | 'freezeClock' | 'resetClock'>> {
  const [product] = await sql<{ text: string }[]>`
    select pg_get_functiondef(${databaseClockFunction}::regprocedure) as text`
  const replaceBy = (expression: string) =>
    sql.unsafe(
      `create or replace function ${databaseClockFunction} returns timestamptz language sql volatile as $$ select ${expression} $$`,
    )
  return {
    async shiftClock(ms) {
      await replaceBy(`clock_timestamp() + interval '${ms} milliseconds'`)
    },
    async freezeClock(at) {
      const [row] = await sql<{ at: string }[]>`select coalesce(${at}::timestamptz, holdfast_now()) as at`
      if (!row) throw new Error('no time')
      await replaceBy(`timestamptz '${row.at}'`)
      return row.at
    },
    async resetClock() {
      await sql.unsafe(product?.text ?? '')
    },
  }
}

async function templateAddress(): Promise<ServerAddress> {
  const given = process.env.HOLDFAST_TEST_PG
  if (given) return JSON.parse(given) as ServerAddress
  own ??= startTestCluster()
  return (await own).address
}

async function administer<T>(template: ServerAddress, act: (admin: Sql) => Promise<T>): Promise<T> {
  const admin = connectTo({ ...template, database: 'postgres' }, { max: 1, name: 'test-admin' })
  return act(admin).finally(() => admin.end())
}
