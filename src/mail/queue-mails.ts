// Decides which facts a buyer hears of by mail, and writes each such mail down once: a consumer of the outbox, never part of the sale.
import { newUuid } from '#core/ids.ts'
import type { Money } from '#core/money.ts'
import type { Sql } from '#database/connect.ts'
import type { EventName, EventPayload, OutboxEvent } from '#outbox/event.ts'
import type { Consumer } from '#outbox/sink.ts'
import type { EventFacts, MailKind } from './mail.ts'

type Parts = { sql: Sql; wake: (worker: string) => void }

/**
 * Which mail a fact makes. `unless`: facts about the booking under which it makes none. A hold that simply ran out makes none at all: nobody wants
 * to hear of a basket they left.
 */
const MAILS: Partial<Record<EventName, { kind: MailKind; unless: ('PAID' | 'NEVER_PAID' | 'TOLD')[] }>> = {
  BookingConfirmed: { kind: 'CONFIRMATION', unless: [] },
  BookingPartlyCancelled: { kind: 'PART_CANCELLATION', unless: [] },
  // A buyer who gives up before paying knows it.
  BookingCancelled: { kind: 'CANCELLATION', unless: ['NEVER_PAID'] },
  BookingFailed: { kind: 'NOT_BOOKED', unless: ['PAID'] },
  // Money that came after the end and was only reserved. Of a paid booking it is the second card of an impatient buyer, or a cancellation told already.
  PaymentVoided: { kind: 'NOT_BOOKED', unless: ['PAID', 'TOLD'] },
  PaymentFailed: { kind: 'PAYMENT_FAILED', unless: ['PAID', 'TOLD'] },
  PaymentRefunded: { kind: 'REFUND', unless: [] },
}

export function mailConsumer({ sql, wake }: Parts): Consumer {
  return {
    name: 'mail',
    wants: Object.keys(MAILS) as EventName[],
    async consume(event) {
      if (await queueMail(sql, event)) wake('mail')
    },
  }
}

/** One statement; the event's id is the memory of it. A booking without an address gets no mail. True when there is a new one. */
export async function queueMail(sql: Sql, event: OutboxEvent): Promise<boolean> {
  const mail = MAILS[event.name]
  if (!mail) return false
  const { inventoryId, bookingId } = event
  const { kind, unless } = mail
  const written = await sql`
    insert into mails (inventory_id, id, booking_id, event_id, kind, facts, next_attempt_at, created_at)
    select b.inventory_id, ${newUuid()}, b.id, ${event.id}, ${kind}, ${sql.json(factsOf(event.payload))}, c.t, c.t
    from bookings b, (select holdfast_now() as t offset 0) c
    where b.inventory_id = ${inventoryId} and b.id = ${bookingId} and b.email is not null
      and not (${unless.includes('PAID')} and b.confirmed_at is not null)
      and not (${unless.includes('NEVER_PAID')} and b.confirmed_at is null)
      and not (${unless.includes('TOLD')} and exists (select from mails m
        where m.inventory_id = b.inventory_id and m.booking_id = b.id and m.kind = ${kind}))
    on conflict (inventory_id, event_id, kind) do nothing`
  return written.count > 0
}

function factsOf({ refund, amount, seats }: EventPayload): EventFacts {
  const money = isMoney(refund) ? refund : amount
  return {
    ...(isMoney(money) ? { money } : {}),
    ...(Array.isArray(seats) ? { seats: seats.map(String) } : {}),
  }
}

function isMoney(value: unknown): value is Money {
  return value !== null && typeof value === 'object' && 'amount' in value && 'currency' in value
}
