// Writes down what became of a try: delivered, to be tried again by the schedule, or dead; and what that says about the endpoint.
import type { Sql } from '#database/connect.ts'
import type { Answer, DueDelivery } from './deliver-webhooks.ts'

const MINUTE_S = 60
const HOUR_S = 3_600
/** Standard Webhooks' schedule: pauses after the first, second ... failure, three days together. After the last one the delivery is dead. */
export const RETRY_PAUSES_S = [
  5,
  5 * MINUTE_S,
  30 * MINUTE_S,
  2 * HOUR_S,
  5 * HOUR_S,
  10 * HOUR_S,
  14 * HOUR_S,
  20 * HOUR_S,
  24 * HOUR_S,
]
// An endpoint that took nothing for as long as a delivery lives is not there any more.
const FAILING_DAYS_MAX = 3
const GONE = 410

export async function noteAnswer(sql: Sql, delivery: DueDelivery, answer: Answer): Promise<void> {
  const delivered = 'status' in answer && answer.status >= 200 && answer.status < 300
  if (delivered) await noteSuccess(sql, delivery, answer.status)
  else await noteFailure(sql, delivery, answer)
}

async function noteSuccess(sql: Sql, { inventoryId, endpointId, eventId }: DueDelivery, status: number): Promise<void> {
  await sql`
    update webhook_deliveries set status = 'DELIVERED', ended_at = holdfast_now(), last_status = ${status}, last_error = null
    where inventory_id = ${inventoryId} and endpoint_id = ${endpointId} and event_id = ${eventId} and status = 'DUE'`
  await sql`update webhook_endpoints set failing_since = null where id = ${endpointId} and failing_since is not null`
}

async function noteFailure(sql: Sql, delivery: DueDelivery, answer: Answer): Promise<void> {
  const { inventoryId, endpointId, eventId, attempts, payload } = delivery
  const status = 'status' in answer ? answer.status : null
  const error = 'error' in answer ? answer.error : `answered ${answer.status}`
  const pauseS = payload === null ? undefined : RETRY_PAUSES_S[attempts - 1]
  await sql.begin(async (tx) => {
    // Many that fail together come back spread out. A try that was overtaken (its lease ran out, or somebody asked for a replay) changes nothing.
    await tx`
      update webhook_deliveries set last_status = ${status}, last_error = ${error},
        next_attempt_at = holdfast_now() + ${pauseS ?? 0} * (0.9 + 0.2 * random()) * interval '1 s',
        status = ${pauseS === undefined ? 'DEAD' : 'DUE'}, ended_at = case when ${pauseS === undefined} then holdfast_now() end
      where inventory_id = ${inventoryId} and endpoint_id = ${endpointId} and event_id = ${eventId} and status = 'DUE' and attempts = ${attempts}`
    await tx`
      update webhook_endpoints set failing_since = coalesce(failing_since, holdfast_now()) where id = ${endpointId}`
    await tx`
      update webhook_endpoints set status = 'DISABLED', updated_at = holdfast_now(), note = case
          when ${status === GONE} then 'It answered 410 Gone.' else 'It took nothing for three days; the last time: ' || ${error} end
      where id = ${endpointId} and status = 'ACTIVE'
        and (${status === GONE} or failing_since <= holdfast_now() - ${FAILING_DAYS_MAX} * interval '1 day')`
  })
}
