// What tests of the outbox share: bookings to tell of, and a sink that remembers what it took.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '#database/connect.ts'
import { append } from '#outbox/append.ts'
import type { OutboxEvent } from '#outbox/event.ts'
import type { Sink } from '#outbox/sink.ts'

export const INVENTORY = 1

/** Bare rows, just enough to number events on. */
export async function bookings(sql: Sql, count: number, customerId = 'c'): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    insert into bookings (inventory_id, id, reference, customer_id, hold_id, status, amount_minor, currency, created_at, expires_at)
    select ${INVENTORY}, gen_random_uuid(), 'R' || gen_random_uuid(), ${customerId}, gen_random_uuid(), 'PENDING', 0, 'EUR', now(), now()
    from generate_series(1, ${count}) returning id`
  return rows.map(({ id }) => id)
}

export function tell(sql: Sql, bookingId: string, note: string | number) {
  const fact = { inventoryId: INVENTORY, bookingId, name: 'BookingPending' as const, payload: { note } }
  return sql.begin((tx) => append(tx, fact))
}

/** Remembers what it accepted; `refuses` answers why it does not take an event. */
export function memorySink(refuses: (event: OutboxEvent) => string | null = () => null, pauseMs?: () => number) {
  const got: OutboxEvent[] = []
  const sink: Sink = {
    name: 'in-process',
    async send(events) {
      const failed = []
      for (const queue of Map.groupBy(events, ({ bookingId }) => bookingId).values()) {
        for (const event of queue) {
          if (pauseMs) await sleep(pauseMs())
          const error = refuses(event)
          if (error !== null) {
            failed.push({ id: event.id, error })
            break
          }
          got.push(event)
        }
      }
      return failed
    },
  }
  const seqs = (bookingId: string) => got.filter((event) => event.bookingId === bookingId).map(({ seq }) => seq)
  return { sink, got, seqs }
}

/** 1, 2, 3 ... where an event may come again, but never before the ones ahead of it came. */
export function firstDeliveries(seqs: number[]): number[] {
  return [...new Set(seqs)]
}
