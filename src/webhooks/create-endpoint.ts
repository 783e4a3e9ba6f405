// Opens an endpoint: from now on its events are written down for it.
import { randomBytes } from 'node:crypto'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import type { EventName } from '#outbox/event.ts'
import { registerSinks } from '#outbox/register-sinks.ts'
import { type Endpoint, endpointColumns, type Manager, SECRET_BYTES } from './endpoint.ts'
import { WEBHOOKS_SINK } from './fan-out.ts'
import { bareHost, type Reach, readTarget, resolveTarget } from './public-address.ts'

const ENDPOINTS_A_KEY_MAX = 20

export type EndpointWish = { url: string; description?: string; events?: EventName[] | null }

/** The secret is answered here and never again. Throws WEBHOOK_URL_REFUSED, WEBHOOK_LIMIT. */
export async function createEndpoint(
  sql: Sql,
  { keyId, admin }: Manager,
  wish: EndpointWish,
  reach: Reach,
): Promise<Endpoint & { secret: Buffer }> {
  const url = readTarget(wish.url, reach)
  await resolveTarget(bareHost(url), reach)
  const secret = randomBytes(SECRET_BYTES)
  // Nobody waits for a sink that nobody wants: it is there from the first endpoint on.
  await registerSinks(sql, [WEBHOOKS_SINK])
  return sql.begin(async (tx) => {
    // Two at once count each other.
    await tx`select from api_keys where id = ${keyId} for update`
    const [kept] = await tx`select count(*)::int as endpoints from webhook_endpoints where key_id = ${keyId}`
    if (kept?.endpoints >= ENDPOINTS_A_KEY_MAX) throw new Problem('WEBHOOK_LIMIT', { limit: ENDPOINTS_A_KEY_MAX })
    const [row] = await tx<Endpoint[]>`
      insert into webhook_endpoints as w (key_id, all_bookings, url, description, event_names, secret, created_at, updated_at)
      select ${keyId}, ${admin}, ${url.href}, ${wish.description ?? ''}, ${wish.events ?? null}::text[], ${secret}, t, t
      from (select holdfast_now() as t offset 0) clock
      returning ${endpointColumns(tx)}`
    if (!row) throw new Error('the endpoint was not written')
    return { ...row, secret }
  })
}
