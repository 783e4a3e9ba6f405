// Everything that a booking's tickets say in print: read once, then drawn as PDF, written as calendar entry, or told by mail.
import { formatSharded, parseSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { type Caller, mayAct } from '#identity/caller.ts'
import { provesHold } from '#identity/hold-token.ts'
import { plainText } from './plain-text.ts'

export type TicketSheet = {
  /** The public id. */
  bookingId: string
  reference: string
  status: 'PENDING' | 'CONFIRMED' | 'CANCELLED' | 'FAILED' | 'EXPIRED'
  /** Whether it was ever paid for: only such a booking has, or had, anything to show. */
  wasConfirmed: boolean
  /** Names and titles are harmless already: see plain-text.ts. */
  name: string | null
  title: string
  venue: string
  area: string
  startsAt: string
  endsAt: string | null
  timeZone: string
  currency: string
  /** The valid ones, in the order of the lines. */
  tickets: { id: string; code: string; place: string; category: string; priceMinor: number }[]
}
type Row = Omit<TicketSheet, 'bookingId' | 'tickets'> & { customerId: string; tokenHash: string }

/** Throws NOT_FOUND when it is nobody's, or somebody else's. */
export async function findOwnSheet(
  tx: Tx,
  publicId: string,
  who: { caller: Caller; holdToken: string | null },
): Promise<TicketSheet> {
  const { inventoryId, uuid } = parseSharded('book', publicId)
  const row = await readRow(tx, inventoryId, uuid)
  if (!row) throw new Problem('NOT_FOUND')
  if (!mayAct(who.caller, row.customerId) && !provesHold(who.holdToken, row.tokenHash)) throw new Problem('NOT_FOUND')
  return complete(tx, inventoryId, uuid, row)
}

/** For those who do not ask on somebody's behalf. Null when there is no such booking. */
export async function readSheet(tx: Tx, inventoryId: number, bookingId: string): Promise<TicketSheet | null> {
  const row = await readRow(tx, inventoryId, bookingId)
  return row ? complete(tx, inventoryId, bookingId, row) : null
}

async function readRow(tx: Tx, inventoryId: number, bookingId: string): Promise<Row | null> {
  const [row] = await tx<Row[]>`
    select b.reference, b.status, b.confirmed_at is not null as was_confirmed, b.name, b.currency, b.customer_id,
      encode(h.token_hash, 'hex') as token_hash, d.title, d.venue, d.area, d.starts_at, d.ends_at, d.time_zone
    from bookings b join holds h on h.inventory_id = b.inventory_id and h.id = b.hold_id
      join inventory_descriptions d on d.inventory_id = b.inventory_id
    where b.inventory_id = ${inventoryId} and b.id = ${bookingId}`
  return row ?? null
}

async function complete(tx: Tx, inventoryId: number, bookingId: string, row: Row): Promise<TicketSheet> {
  const { customerId: _customer, tokenHash: _token, ...facts } = row
  const tickets = await tx<
    (Omit<TicketSheet['tickets'][number], 'place'> & { seatCode: string | null; pool: string })[]
  >`
    select t.id, t.code, t.seat_code, coalesce(l.pool_code, '') as pool, l.category, l.amount_minor / l.quantity as price_minor
    from tickets t join booking_lines l on l.inventory_id = t.inventory_id and l.booking_id = t.booking_id and l.line_no = t.line_no
    where t.inventory_id = ${inventoryId} and t.booking_id = ${bookingId} and t.status = 'VALID' order by t.line_no, t.unit_no`
  return {
    ...facts,
    bookingId: formatSharded('book', inventoryId, bookingId),
    name: facts.name === null ? null : plainText(facts.name),
    title: plainText(facts.title),
    venue: plainText(facts.venue),
    area: plainText(facts.area),
    tickets: tickets.map(({ id, code, seatCode, pool, category, priceMinor }) => ({
      id: formatSharded('ticket', inventoryId, id),
      code,
      place: plainText(seatCode ?? pool),
      category: plainText(category),
      priceMinor,
    })),
  }
}
