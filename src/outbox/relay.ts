// Tells one sink what is in its queue: leases a batch, sends it outside any transaction, notes what was accepted. Any number of relays at once.
//
// Order: only a booking's first undelivered event can be claimed, and with it come the booking's later ones, so one relay has all of a booking or none.
// What is still to be sent is a row of the sink's queue, never "ids above the last one": numbers become visible out of order and a cursor over them loses rows.
import type { Worker } from '#core/workers.ts'
import type { Sql, Tx } from '#database/connect.ts'
import type { OutboxEvent } from './event.ts'
import { type Accepted, type Failure, noteDelivered, noteFailures, releaseLeases } from './note-outcome.ts'
import type { Sink } from './sink.ts'

export type ParkedEvent = Pick<OutboxEvent, 'inventoryId' | 'bookingId' | 'id' | 'name' | 'seq'> & {
  sink: string
  error: string
}
/** Part of the transaction that parks: what a person is told. */
export type OnParked = (tx: Tx, parked: ParkedEvent) => Promise<void>
type Parts = { sql: Sql; config: { relayIntervalMs: number }; sinks: Sink[]; onParked?: OnParked }
export type Claimed = OutboxEvent & { attempts: number; leasedUntil: string }

const BOOKINGS_A_BATCH = 100
// Longer than any sink may take for a batch; after it a relay that died is no longer waited for.
const LEASE_MS = 30_000
// A sink that is back is noticed within this time, however long it was away.
const AWAY_PAUSE_MAX_MS = 10_000

/** One worker a sink, so that a slow or dead one holds up nobody else. All of them are woken as `relay`. */
export function relays({ sql, config, sinks, onParked }: Parts): Worker[] {
  return sinks.map((sink) => ({
    name: `relay-${sink.name}`,
    wokenAs: 'relay',
    intervalMs: config.relayIntervalMs,
    backoffMaxMs: AWAY_PAUSE_MAX_MS,
    run: () => relayTo(sql, sink, onParked),
  }))
}

/** Every sink in turn, until nothing is due anywhere. Answers how many deliveries were acknowledged. */
export async function relayEvents(sql: Sql, sinks: Sink[], onParked?: OnParked): Promise<number> {
  let delivered = 0
  for (const sink of sinks) delivered += await relayTo(sql, sink, onParked)
  return delivered
}

/**
 * Until nothing is due. Answers how many events the sink accepted. Throws what the sink threw: it is away as a whole, which is no event's fault, so
 * that nothing is counted against any of them, however long it lasts.
 */
export async function relayTo(sql: Sql, sink: Sink, onParked: OnParked = async () => {}): Promise<number> {
  for (let delivered = 0; ; ) {
    const events = await claim(sql, sink.name)
    if (events.length === 0) return delivered
    delivered += await sendAndNote(sql, sink, events, onParked)
  }
}

// A second relay that saw the same first event waits for nobody: the row is locked (skipped), or leased by the time it is looked at again.
async function claim(sql: Sql, sink: string): Promise<Claimed[]> {
  const events = await sql<Claimed[]>`
    with clock as materialized (select holdfast_now() as t),
    heads as (
      select d.inventory_id, d.booking_id from outbox_deliveries d, clock c
      where d.sink = ${sink} and d.parked_at is null and d.next_attempt_at <= c.t and coalesce(d.leased_until, '-infinity') <= c.t
        and not exists (select from outbox_deliveries e
          where e.inventory_id = d.inventory_id and e.booking_id = d.booking_id and e.sink = d.sink and e.seq < d.seq)
      order by d.created_at limit ${BOOKINGS_A_BATCH} for update of d skip locked),
    leased as (
      update outbox_deliveries d set leased_until = c.t + ${LEASE_MS} * interval '1 ms' from heads h, clock c
      where d.inventory_id = h.inventory_id and d.booking_id = h.booking_id and d.sink = ${sink} and d.parked_at is null
      returning d.inventory_id, d.event_id, d.attempts, d.leased_until)
    select o.id, o.inventory_id, o.booking_id, o.seq, o.name, o.payload, o.created_at, l.attempts, l.leased_until
    from leased l join outbox o on o.inventory_id = l.inventory_id and o.id = l.event_id`
  return events.toSorted((a, b) => a.bookingId.localeCompare(b.bookingId) || a.seq - b.seq)
}

async function sendAndNote(sql: Sql, sink: Sink, events: Claimed[], onParked: OnParked): Promise<number> {
  let undelivered: Map<string, string>
  try {
    undelivered = new Map((await sink.send(events)).map(({ id, error }) => [id, error]))
  } catch (error) {
    await releaseLeases(sql, sink.name, events)
    throw error
  }
  const { accepted, failed, waiting } = sortOut(events, undelivered)
  const delivered = await noteDelivered(sql, sink.name, accepted)
  if (waiting.length > 0) await releaseLeases(sql, sink.name, waiting)
  if (failed.length > 0) await noteFailures(sql, sink.name, failed, onParked)
  return delivered
}

// A booking's events before its first failure are delivered; the failed one backs off or is parked; those after it wait behind it.
function sortOut(events: Claimed[], undelivered: Map<string, string>) {
  const accepted: Accepted[] = []
  const waiting: Claimed[] = []
  const failed: Failure[] = []
  for (const queue of Map.groupBy(events, ({ bookingId }) => bookingId).values()) {
    const first = queue.findIndex(({ id }) => undelivered.has(id))
    accepted.push(...(first < 0 ? queue : queue.slice(0, first)))
    const [broken, ...behind] = first < 0 ? [] : queue.slice(first)
    if (broken) failed.push({ event: broken, error: undelivered.get(broken.id) ?? '' })
    waiting.push(...behind)
  }
  return { accepted, failed, waiting }
}
