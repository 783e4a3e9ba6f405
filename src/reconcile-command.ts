// `holdfast reconcile`: three sides compared now, printed, and an exit code that says whether a person must act.
import { printReconciliation } from '#admin/print-reconciliation.ts'
import type { Config } from '#config.ts'
import type { Sql } from '#database/connect.ts'
import { StartRefused } from '#database/start-refused.ts'
import { openProviders } from '#payments/providers/open-providers.ts'
import { reconcile } from '#payments/reconcile.ts'

/** RFC 3339, by when a payment was opened; absent: the last day. What is safe to repair is repaired. */
export async function reconcileCommand(config: Config, sql: Sql, [since, until]: string[]): Promise<void> {
  for (const time of [since, until])
    if (time !== undefined && Number.isNaN(Date.parse(time))) throw new StartRefused(`${time} is no time in RFC 3339.`)
  const [span] = await sql<{ since: string; until: string }[]>`
    select coalesce(${since ?? null}::timestamptz, u.at - interval '1 day') as since, u.at as until
    from (select coalesce(${until ?? null}::timestamptz, holdfast_now()) as at) u`
  if (!span || span.since >= span.until) throw new StartRefused('SINCE must be before UNTIL.')
  const wake = () => {}
  const providers = await openProviders({ sql, config, wake })
  const result = await reconcile({ sql, providers, config, wake }, span.since, span.until)
  console.log(printReconciliation(result, span.since, span.until))
  if (result.differences.some(({ action }) => action === 'WORKLIST')) process.exitCode = 1
}
