// Tickets as their owner sees them: all of a booking, or one by its id.
import { formatSharded, parseSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { type Caller, mayAct } from '#identity/caller.ts'
import { provesHold } from '#identity/hold-token.ts'

export type Ticket = {
  id: string
  status: 'VALID' | 'CANCELLED'
  line: number
  seat: string | null
  code: string
  issuedAt: string
}
type TicketRow = {
  id: string
  status: Ticket['status']
  lineNo: number
  seatCode: string | null
  code: string
  issuedAt: string
}

/** In the order of the lines; empty until the relay has come by, which takes about a second after the payment. */
export async function readTickets(tx: Tx, inventoryId: number, bookingId: string): Promise<Ticket[]> {
  const rows = await tx<TicketRow[]>`
    select id, status, line_no, seat_code, code, issued_at from tickets
    where inventory_id = ${inventoryId} and booking_id = ${bookingId} order by line_no, unit_no`
  return rows.map((row) => describe(inventoryId, row))
}

/** Throws NOT_FOUND for an unknown id, somebody else's, and a ticket that was cancelled: a link to it must not go on opening it. */
export async function findTicket(
  tx: Tx,
  publicId: string,
  who: { caller: Caller; holdToken: string | null },
): Promise<Ticket> {
  const { inventoryId, uuid } = parseSharded('ticket', publicId)
  const [row] = await tx<(TicketRow & { customerId: string; tokenHash: string })[]>`
    select t.id, t.status, t.line_no, t.seat_code, t.code, t.issued_at, b.customer_id, encode(h.token_hash, 'hex') as token_hash
    from tickets t join bookings b on b.inventory_id = t.inventory_id and b.id = t.booking_id
      join holds h on h.inventory_id = b.inventory_id and h.id = b.hold_id
    where t.inventory_id = ${inventoryId} and t.id = ${uuid} and t.status = 'VALID'`
  if (!row) throw new Problem('NOT_FOUND')
  if (!mayAct(who.caller, row.customerId) && !provesHold(who.holdToken, row.tokenHash)) throw new Problem('NOT_FOUND')
  return describe(inventoryId, row)
}

function describe(inventoryId: number, { id, status, lineNo, seatCode, code, issuedAt }: TicketRow): Ticket {
  return { id: formatSharded('ticket', inventoryId, id), status, line: lineNo, seat: seatCode, code, issuedAt }
}
