// Changes an endpoint: where it is, what it wants, whether it is told at all; and takes it away.
import type { Sql } from '#database/connect.ts'
import type { EndpointWish } from './create-endpoint.ts'
import { type Endpoint, type EndpointStatus, endpointColumns } from './endpoint.ts'
import { bareHost, type Reach, readTarget, resolveTarget } from './public-address.ts'

export type EndpointChange = Partial<EndpointWish> & { status?: EndpointStatus }

/** What is absent stays. Enabled again it starts with a clean record. Throws WEBHOOK_URL_REFUSED. */
export async function changeEndpoint(
  sql: Sql,
  endpoint: Endpoint,
  change: EndpointChange,
  reach: Reach,
): Promise<Endpoint> {
  const url = change.url === undefined ? endpoint.url : readTarget(change.url, reach).href
  if (change.url !== undefined) await resolveTarget(bareHost(new URL(url)), reach)
  const events = change.events === undefined ? endpoint.eventNames : change.events
  const status = change.status ?? endpoint.status
  const enabled = status === 'ACTIVE' && endpoint.status === 'DISABLED'
  const [row] = await sql<Endpoint[]>`
    update webhook_endpoints w set url = ${url}, description = ${change.description ?? endpoint.description},
      event_names = ${events}::text[], status = ${status}, updated_at = holdfast_now(),
      note = case when ${enabled} then null else note end, failing_since = case when ${enabled} then null else failing_since end
    where id = ${endpoint.id} returning ${endpointColumns(sql)}`
  return row ?? endpoint
}

/** With everything still to be sent to it. */
export async function deleteEndpoint(sql: Sql, { id }: Endpoint): Promise<void> {
  await sql.begin(async (tx) => {
    // Waits for a fan-out that has just seen it, and is waited for by the next one.
    await tx`select from webhook_endpoints where id = ${id} for update`
    await tx`delete from webhook_deliveries where endpoint_id = ${id}`
    await tx`delete from webhook_endpoints where id = ${id}`
  })
}
