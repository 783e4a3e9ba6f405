// Reconciliations as rows: asked for by a person or the calendar, run by one worker, kept with what they found.
import { formatSharded } from '#core/ids.ts'
import type { Worker } from '#core/workers.ts'
import type { Sql, Tx } from '#database/connect.ts'
import type { LookUpParts } from './look-up-payments.ts'
import { type FoundDifference, reconcile } from './reconcile.ts'

const INTERVAL_MS = 30_000
/** Long enough for the list of a large house; a process that died in it is followed by another. */
const LEASE_MS = 1_800_000
/** Each day the last days again: money moves after the day it was taken on. */
export const DAILY_SPAN_DAYS = 7

export function reconcileWorker(parts: LookUpParts): Worker {
  return {
    name: 'reconcile',
    intervalMs: parts.config.reconcileIntervalMs === 0 ? 0 : INTERVAL_MS,
    async run() {
      await scheduleDaily(parts.sql)
      let done = 0
      while (await runNext(parts)) done += 1
      return done
    },
  }
}

/** Answers its number. `since` and `until` are RFC 3339; absent: the last day, until now. */
export async function requestReconciliation(
  sql: Sql,
  order: { since?: string | undefined; until?: string | undefined; by: string },
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into reconciliations (since_at, until_at, requested_by, requested_at)
    select coalesce(${order.since ?? null}::timestamptz, u.at - interval '1 day'), u.at, ${order.by}, t
    from holdfast_now() t, lateral (select coalesce(${order.until ?? null}::timestamptz, t) as at) u returning id`
  if (!row) throw new Error('a reconciliation that was just written is not there')
  return row.id
}

// Once a day of UTC, whoever comes first.
async function scheduleDaily(sql: Sql): Promise<void> {
  await sql`
    insert into reconciliations (since_at, until_at, scheduled_for, requested_by, requested_at)
    select d.day - ${DAILY_SPAN_DAYS} * interval '1 day', d.day, d.day::date, 'daily', t
    from holdfast_now() t, lateral (select date_trunc('day', t at time zone 'UTC') at time zone 'UTC' as day) d
    on conflict (scheduled_for) do nothing`
}

/** False when none waits. One that fails says why and is not tried again: the next day's covers it. */
export async function runNext(parts: LookUpParts): Promise<boolean> {
  const { sql } = parts
  const [next] = await sql<{ id: number; sinceAt: string; untilAt: string }[]>`
    with clock as materialized (select holdfast_now() as t),
    due as (select r.id from reconciliations r, clock c
      where r.status = 'QUEUED' or r.status = 'RUNNING' and r.leased_until < c.t order by r.id limit 1 for update of r skip locked)
    update reconciliations r set status = 'RUNNING', leased_until = c.t + ${LEASE_MS} * interval '1 ms' from due d, clock c
    where r.id = d.id returning r.id, r.since_at, r.until_at`
  if (!next) return false
  try {
    const { differences, totals } = await reconcile(parts, next.sinceAt, next.untilAt)
    await sql.begin(async (tx) => {
      await tx`delete from reconciliation_differences where reconciliation_id = ${next.id}`
      for (const [at, difference] of differences.entries()) await writeDifference(tx, next.id, at + 1, difference)
      await tx`
        update reconciliations set status = 'DONE', finished_at = holdfast_now(), totals = ${tx.json(totals)} where id = ${next.id}`
    })
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    await sql`
      update reconciliations set status = 'FAILED', finished_at = holdfast_now(), failure = ${failure} where id = ${next.id}`
  }
  return true
}

async function writeDifference(tx: Tx, id: number, no: number, { sides, ...about }: FoundDifference): Promise<void> {
  const { provider, theirs, ours } = sides
  const facts = {
    ourStatus: ours?.status ?? null,
    theirStatus: theirs?.status ?? null,
    bookingId: ours && formatSharded('book', ours.inventoryId, ours.bookingId),
    disputedMinor: theirs?.disputedMinor ?? 0,
  }
  await tx`
    insert into reconciliation_differences (reconciliation_id, no, kind, action, provider, provider_payment_id, inventory_id, payment_id,
      amount_minor, currency, facts)
    values (${id}, ${no}, ${about.kind}, ${about.action}, ${provider}, ${theirs?.providerPaymentId ?? ours?.providerPaymentId ?? null},
      ${ours?.inventoryId ?? null}, ${ours?.id ?? null}, ${about.amountMinor}, ${about.currency}, ${tx.json(facts)})`
}
