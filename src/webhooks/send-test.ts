// Sends a message that tells of nothing, now, and says what came of it.
import { newUuid } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import { errorText } from './deliver-webhooks.ts'
import type { Endpoint } from './endpoint.ts'
import { testMessage } from './message.ts'
import { postMessage } from './post-message.ts'
import type { Reach } from './public-address.ts'

export type TestOutcome = { delivered: boolean; status: number | null; error: string | null; tookMs: number }

/** Takes up to 10 s. Also for a disabled endpoint: that is how one finds out whether it is well again. */
export async function sendTest(sql: Sql, { id, url }: Endpoint, reach: Reach): Promise<TestOutcome> {
  const [row] = await sql<{ secret: Buffer; previous: Buffer | null; now: string }[]>`
    select secret, case when previous_until > t then previous_secret end as previous, t as now
    from webhook_endpoints, (select holdfast_now() as t offset 0) clock where id = ${id}`
  if (!row) throw new Error(`endpoint ${id} went away`)
  const secrets = row.previous ? [row.secret, row.previous] : [row.secret]
  const startedMs = performance.now()
  const tookMs = () => Math.round(performance.now() - startedMs)
  try {
    const status = await postMessage(url, testMessage(newUuid(), { secrets, at: row.now }), reach)
    return { delivered: status >= 200 && status < 300, status, error: null, tookMs: tookMs() }
  } catch (error) {
    return { delivered: false, status: null, error: errorText(error), tookMs: tookMs() }
  }
}
