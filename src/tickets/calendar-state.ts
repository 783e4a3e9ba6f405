// Remembers what a booking's calendar file said last, so that the sequence rises whenever it says something else: a cancelled seat, a moved show.
import { createHash } from 'node:crypto'
import { parseSharded } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import type { TicketSheet } from './ticket-sheet.ts'
import type { CalendarState } from './write-calendar.ts'

/** The same for the same sheet, by whichever door it is asked for. */
export async function noteCalendar(tx: Tx, sheet: TicketSheet): Promise<CalendarState> {
  const { inventoryId, uuid } = parseSharded('book', sheet.bookingId)
  const { reference, status, title, venue, area, startsAt, endsAt, timeZone } = sheet
  const places = sheet.tickets.map(({ place }) => place)
  const said = JSON.stringify([reference, status, title, venue, area, startsAt, endsAt, timeZone, places])
  const fingerprint = createHash('sha256').update(said).digest()
  await tx`
    insert into calendar_entries as c (inventory_id, booking_id, fingerprint, changed_at)
    values (${inventoryId}, ${uuid}, ${fingerprint}, holdfast_now())
    on conflict (inventory_id, booking_id) do update
      set fingerprint = excluded.fingerprint, sequence = c.sequence + 1, changed_at = excluded.changed_at
      where c.fingerprint <> excluded.fingerprint`
  const [state] = await tx<CalendarState[]>`
    select sequence, changed_at from calendar_entries where inventory_id = ${inventoryId} and booking_id = ${uuid}`
  if (!state) throw new Error(`the calendar entry of ${sheet.bookingId} is not there after it was written`)
  return state
}
