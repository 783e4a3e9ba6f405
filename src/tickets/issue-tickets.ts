// Issues the tickets of a confirmed booking, one for each line: a consumer of the outbox, never part of the booking's own transaction.
import { newUuid } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'
import type { OutboxEvent } from '#outbox/event.ts'
import type { Consumer } from '#outbox/sink.ts'
import { writeTicketCode } from './ticket-code.ts'
import type { TicketKey } from './ticket-key.ts'

export function ticketConsumer({ sql, ticketKey }: { sql: Sql; ticketKey: TicketKey }): Consumer {
  return { name: 'tickets', wants: ['BookingConfirmed'], consume: (event) => issueTickets(sql, ticketKey, event) }
}

/**
 * However often the event comes, a line has one ticket: the table's unique key is the memory of it. A line that was cancelled meanwhile gets none;
 * locking the inventory makes that certain, because cancelling locks it too.
 */
export async function issueTickets(
  sql: Sql,
  ticketKey: TicketKey,
  { inventoryId, bookingId }: Pick<OutboxEvent, 'inventoryId' | 'bookingId'>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select 1 from inventories where id = ${inventoryId} for update`
    const lines = await tx<{ lineNo: number; seatCode: string | null; quantity: number }[]>`
      select l.line_no, l.seat_code, l.quantity from booking_lines l join bookings b on b.inventory_id = l.inventory_id and b.id = l.booking_id
      where l.inventory_id = ${inventoryId} and l.booking_id = ${bookingId} and l.status = 'ACTIVE' and b.status = 'CONFIRMED'`
    const tickets = lines.flatMap(({ lineNo, seatCode, quantity }) =>
      Array.from({ length: quantity }, (_, unit) => {
        const ticketId = newUuid()
        return {
          ticketId,
          lineNo,
          unitNo: unit + 1,
          seatCode,
          code: writeTicketCode(ticketKey, { inventoryId, ticketId }),
        }
      }),
    )
    await tx`
      insert into tickets (inventory_id, id, booking_id, line_no, unit_no, seat_code, code, issued_at)
      select ${inventoryId}, t."ticketId", ${bookingId}, t."lineNo", t."unitNo", t."seatCode", t.code, holdfast_now()
      from jsonb_to_recordset(${tx.json(tickets)}) t ("ticketId" uuid, "lineNo" int, "unitNo" int, "seatCode" text, code text)
      on conflict (inventory_id, booking_id, line_no, unit_no) do nothing`
  })
}
