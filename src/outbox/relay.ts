// Tells what the outbox holds: leases a batch, sends it outside any transaction, notes what was accepted. Any number of relays at once.
//
// Order: only a booking's first unsent event can be claimed, and with it come the booking's later ones, so one relay has all of a booking or none.
// What was sent is known by published_at, never by "ids above the last one": numbers become visible out of order and a cursor over them loses rows.
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import type { OutboxEvent } from './event.ts'
import type { Sink, Undelivered } from './sink.ts'

type Parts = { sql: Sql; config: { relayIntervalMs: number }; sinks: Sink[] }
type Claimed = OutboxEvent & { attempts: number; leasedUntil: string }

const BOOKINGS_A_BATCH = 100
// Longer than any sink may take for a batch; after it a relay that died is no longer waited for.
const LEASE_MS = 30_000
const BACKOFF_FIRST_MS = 250
const BACKOFF_MAX_MS = 60_000
/** About ten minutes of trying; then the event is parked, with its booking, for a person to look at. */
export const ATTEMPTS_MAX = 16

export function relay({ sql, config, sinks }: Parts): Worker {
  return { name: 'relay', intervalMs: config.relayIntervalMs, run: () => relayEvents(sql, sinks) }
}

/** Until nothing is due. Answers how many events every sink accepted. */
export async function relayEvents(sql: Sql, sinks: Sink[]): Promise<number> {
  let published = 0
  for (;;) {
    const events = await claim(sql)
    if (events.length === 0) return published
    published += await note(sql, events, await sendToAll(sinks, events))
  }
}

// A second relay that saw the same first event waits for nobody: the row is locked (skipped), or leased by the time it is looked at again.
async function claim(sql: Sql): Promise<Claimed[]> {
  const events = await sql<Claimed[]>`
    with clock as materialized (select holdfast_now() as t),
    heads as (
      select o.inventory_id, o.booking_id from outbox o, clock c
      where o.published_at is null and o.parked_at is null and o.next_attempt_at <= c.t and coalesce(o.leased_until, '-infinity') <= c.t
        and not exists (select from outbox e
          where e.inventory_id = o.inventory_id and e.booking_id = o.booking_id and e.seq < o.seq and e.published_at is null)
      order by o.created_at limit ${BOOKINGS_A_BATCH} for update of o skip locked)
    update outbox o set leased_until = c.t + ${LEASE_MS} * interval '1 ms' from heads h, clock c
    where o.inventory_id = h.inventory_id and o.booking_id = h.booking_id and o.published_at is null and o.parked_at is null
    returning o.id, o.inventory_id, o.booking_id, o.seq, o.name, o.payload, o.created_at, o.attempts, o.leased_until`
  return events.toSorted((a, b) => a.bookingId.localeCompare(b.bookingId) || a.seq - b.seq)
}

/** Event ids that a sink did not accept, each with its reason. */
async function sendToAll(sinks: Sink[], events: Claimed[]): Promise<Map<string, string>> {
  const failures = await Promise.all(
    sinks.map((sink) =>
      sink
        .send(events)
        .catch((error: unknown) => events.map(({ id }): Undelivered => ({ id, error: String(error) })))
        .then((undelivered) => undelivered.map(({ id, error }) => [id, `${sink.name}: ${error}`] as const)),
    ),
  )
  return new Map(failures.flat())
}

// A booking's events before its first failure are published; the failed one backs off or is parked; those after it wait behind it.
async function note(sql: Sql, events: Claimed[], failures: Map<string, string>): Promise<number> {
  const published: Claimed[] = []
  const waiting: Claimed[] = []
  const failed: Claimed[] = []
  for (const queue of Map.groupBy(events, ({ bookingId }) => bookingId).values()) {
    const first = queue.findIndex(({ id }) => failures.has(id))
    const accepted = first < 0 ? queue : queue.slice(0, first)
    published.push(...accepted)
    const [broken, ...behind] = queue.slice(accepted.length)
    if (broken) failed.push(broken)
    waiting.push(...behind)
  }
  // Only our own lease is given back: when it ran out meanwhile, another relay has the booking.
  const leasedUntil = events[0]?.leasedUntil ?? null
  await sql.begin(async (tx) => {
    await tx`
      update outbox set published_at = holdfast_now(), leased_until = null where published_at is null and (inventory_id, id) in
        (select * from unnest(${published.map((event) => event.inventoryId)}::bigint[], ${published.map(({ id }) => id)}::uuid[]))`
    await tx`
      update outbox set leased_until = null where leased_until = ${leasedUntil} and (inventory_id, id) in
        (select * from unnest(${waiting.map((event) => event.inventoryId)}::bigint[], ${waiting.map(({ id }) => id)}::uuid[]))`
    for (const { inventoryId, id, attempts } of failed) {
      const pauseMs = Math.min(BACKOFF_FIRST_MS * 2 ** attempts, BACKOFF_MAX_MS)
      await tx`
        update outbox set attempts = attempts + 1, last_error = ${failures.get(id) ?? ''}, leased_until = null,
          next_attempt_at = holdfast_now() + ${pauseMs} * interval '1 ms',
          parked_at = case when attempts + 1 >= ${ATTEMPTS_MAX} then holdfast_now() end
        where inventory_id = ${inventoryId} and id = ${id} and published_at is null and leased_until = ${leasedUntil}`
    }
  })
  return published.length
}
