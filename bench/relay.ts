// relay: outbox rows brought to an in-process sink, against one row a transaction. Both on the same rows, one relay each, a sink that costs nothing.
import type { Sql } from '#database/connect.ts'
import { relayTo } from '#outbox/relay.ts'
import { inProcessSink } from '#outbox/sink.ts'
import { type Bench, median } from './bench.ts'
import { relayRowByRow } from './reference/row-by-row.ts'

const EVENTS_A_BOOKING = 3

export const bench: Bench = {
  name: 'relay',
  ours: 'a hundred bookings a batch, leased, sent, marked',
  reference: 'one row a transaction',
  mustReach: 10,
  async run({ pool, quick, say }) {
    const sql = pool(4)
    const rounds = quick ? 2 : 5
    const perSecond = { ours: [] as number[], reference: [] as number[] }
    for (let round = 1; round <= rounds; round++) {
      for (const [who, events] of [
        ['ours', quick ? 9_000 : 30_000],
        ['reference', quick ? 900 : 3_000],
      ] as const) {
        await fillOutbox(sql, events)
        const startedMs = performance.now()
        const sent = await (who === 'ours' ? relayTo(sql, inProcessSink([])) : relayRowByRow(sql, inProcessSink([])))
        const tookMs = performance.now() - startedMs
        if (sent !== events) throw new Error(`${who} sent ${sent} of ${events} events`)
        perSecond[who].push((sent / tookMs) * 1_000)
      }
      say(`round ${round}: ours ${last(perSecond.ours)}/s, reference ${last(perSecond.reference)}/s`)
    }
    const [ours, reference] = [median(perSecond.ours), median(perSecond.reference)]
    return {
      name: 'relay',
      ours: Math.round(ours),
      reference: Math.round(reference),
      ratio: ours / reference,
      unit: 'events/s',
      rounds,
      notes: { eventsABooking: EVENTS_A_BOOKING },
    }
  },
}

/** Every round meets the same outbox: bookings with three events each, nothing else. */
async function fillOutbox(sql: Sql, events: number): Promise<void> {
  await sql`truncate outbox, outbox_deliveries`
  await sql`
    insert into outbox (inventory_id, id, booking_id, seq, name, payload, created_at, unsent)
    select 1 + n % 400, gen_random_uuid(), b.id, seq, 'BookingPending', ${sql.json({ reference: 'ABC234', lines: [1, 2] })},
      holdfast_now() + n * interval '1 us', 1
    from (select n, gen_random_uuid() as id from generate_series(1, ${events / EVENTS_A_BOOKING}::int) n) b, generate_series(1, ${EVENTS_A_BOOKING}) seq`
  await sql`
    insert into outbox_deliveries (inventory_id, sink, booking_id, seq, event_id, created_at, next_attempt_at)
    select inventory_id, 'in-process', booking_id, seq, id, created_at, now() from outbox`
  await sql`vacuum analyze outbox, outbox_deliveries`
  await sql`checkpoint`
}

function last(values: number[]): number {
  return Math.round(values.at(-1) ?? 0)
}
