// What only the database knows: its time, how busy its connections are, how far telling is behind.
import type { Metrics } from '#core/metrics.ts'
import type { Sql } from '#database/connect.ts'
import { outboxLag } from '#outbox/lag.ts'

export async function databaseTime(sql: Sql): Promise<string> {
  const [row] = await sql<{ now: string }[]>`select holdfast_now() as now`
  if (!row) throw new Error('the database has no clock')
  return row.now
}

/** Numbers read when somebody asks for them. postgres.js does not tell how busy a pool is; the server does. */
export function watchDatabase(metrics: Metrics, sql: Sql): void {
  metrics.observe(
    'holdfast_database_connections_busy',
    'Connections of all Holdfast processes at work or waiting',
    async () => {
      const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity where application_name like 'holdfast-%' and state <> 'idle'`
      return row?.count ?? 0
    },
    'max',
  )
  const perSink = async (what: 'oldestUnsentSeconds' | 'unsent' | 'parked') =>
    new Map((await outboxLag(sql)).map((lag) => [lag.sink, lag[what]]))
  metrics.observeEach(
    'holdfast_outbox_oldest_unsent_seconds',
    'Age of the oldest event still to be sent, by sink',
    'sink',
    () => perSink('oldestUnsentSeconds'),
  )
  metrics.observeEach('holdfast_outbox_unsent', 'Events still to be sent, by sink', 'sink', () => perSink('unsent'))
  metrics.observeEach(
    'holdfast_outbox_parked',
    'Events a sink would not take, for a person to look at, by sink',
    'sink',
    () => perSink('parked'),
  )
  metrics.observe(
    'holdfast_mails_due',
    'Mails still to be sent; growing while the mail server is away',
    async () => {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from mails where status = 'DUE'`
      return row?.count ?? 0
    },
    'max',
  )
  metrics.observe(
    'holdfast_worklist_open',
    'Items a person must look at',
    async () => {
      const [row] = await sql<
        { count: number }[]
      >`select count(*)::int as count from worklist where resolved_at is null`
      return row?.count ?? 0
    },
    'max',
  )
}
