// Sends what is written down for endpoints: a few at once to each, so that a slow one holds up nobody else; tries again for three days.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import type { OutboxEvent } from '#outbox/event.ts'
import { eventMessage } from './message.ts'
import { noteAnswer } from './note-answer.ts'
import { postMessage } from './post-message.ts'
import type { Reach } from './public-address.ts'

export type DueDelivery = Pick<OutboxEvent, 'inventoryId' | 'bookingId' | 'seq' | 'name' | 'createdAt'> & {
  endpointId: number
  eventId: string
  url: string
  secret: Buffer
  previousSecret: Buffer | null
  /** This one included. */
  attempts: number
  /** Null: the event was forgotten before it could be sent. */
  payload: OutboxEvent['payload'] | null
  now: string
}
/** A status, or what kept us from getting one. */
export type Answer = { status: number } | { error: string }

const INTERVAL_MS = 500
const AN_ENDPOINT_AT_ONCE = 4
const AT_ONCE = 32
// Longer than a try can take; a worker that died meanwhile is followed by another, under the same id.
const LEASE_MS = 30_000
// A run that always finds more ends, too, so that the process can stop.
const RUN_MS = 5_000

export function deliverWebhooks({ sql, reach }: { sql: Sql; reach: Reach }): Worker {
  return { name: 'webhooks', intervalMs: INTERVAL_MS, run: () => sendDue(sql, reach) }
}

/** Until nothing is due, or for five seconds. Answers how many were tried. */
export async function sendDue(sql: Sql, reach: Reach): Promise<number> {
  const startedMs = performance.now()
  const underWay = new Map<Promise<void>, number>()
  for (let tried = 0; ; ) {
    const busy = Map.groupBy(underWay.values(), (endpointId) => endpointId)
    const full = [...busy].filter(([, one]) => one.length >= AN_ENDPOINT_AT_ONCE).map(([endpointId]) => endpointId)
    const over = performance.now() - startedMs > RUN_MS || underWay.size >= AT_ONCE
    const due = over ? [] : await claim(sql, full, AT_ONCE - underWay.size)
    for (const delivery of due) {
      const sending = attempt(sql, delivery, reach).finally(() => underWay.delete(sending))
      underWay.set(sending, delivery.endpointId)
    }
    tried += due.length
    if (underWay.size === 0) return tried
    // Whichever comes first: room for another one, or time to look who else has something due.
    await Promise.race([...underWay.keys(), sleep(INTERVAL_MS)])
  }
}

async function claim(sql: Sql, full: number[], limit: number): Promise<DueDelivery[]> {
  return sql<DueDelivery[]>`
    with clock as materialized (select holdfast_now() as t),
    due as (
      select d.*, w.url, w.secret, case when w.previous_until > c.t then w.previous_secret end as previous_secret
      from clock c, webhook_endpoints w join api_keys k on k.id = w.key_id and k.revoked_at is null,
        lateral (select d.inventory_id, d.endpoint_id, d.event_id from webhook_deliveries d
          where d.endpoint_id = w.id and d.status = 'DUE' and d.next_attempt_at <= c.t
          order by d.next_attempt_at limit ${AN_ENDPOINT_AT_ONCE} for update of d skip locked) d
      where w.status = 'ACTIVE' and not w.id = any (${full}::bigint[]) limit ${limit})
    update webhook_deliveries d set attempts = d.attempts + 1, next_attempt_at = c.t + ${LEASE_MS} * interval '1 ms'
    from clock c, due u left join outbox o on o.inventory_id = u.inventory_id and o.id = u.event_id
    where d.inventory_id = u.inventory_id and d.endpoint_id = u.endpoint_id and d.event_id = u.event_id
    returning d.inventory_id, d.endpoint_id, d.event_id, d.name, d.attempts, u.url, u.secret, u.previous_secret,
      o.booking_id, o.seq, o.payload, o.created_at, c.t as now`
}

async function attempt(sql: Sql, delivery: DueDelivery, reach: Reach): Promise<void> {
  const answer = await send(delivery, reach)
  // A database that is away leaves the row leased: it is tried again when that is over.
  await noteAnswer(sql, delivery, answer).catch(() => {})
}

async function send(delivery: DueDelivery, reach: Reach): Promise<Answer> {
  const { payload, eventId, secret, previousSecret, now, url } = delivery
  if (payload === null) return { error: 'the event is older than what is kept' }
  const secrets = previousSecret ? [secret, previousSecret] : [secret]
  try {
    return {
      status: await postMessage(url, eventMessage({ ...delivery, id: eventId, payload }, { secrets, at: now }), reach),
    }
  } catch (error) {
    return { error: errorText(error) }
  }
}

/** The reason of a refusal beside its sentence, the code of what the network said. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, facts } = error as Error & { code?: string; facts?: { reason?: string } }
  return [error.message || code || error.name, facts?.reason].filter((part) => part).join(' ')
}
