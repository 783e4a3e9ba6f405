// Writes a booking as an iCalendar file (RFC 5545): one event on the venue's own clock, with the rules of that clock in the file.
import { plainText } from './plain-text.ts'
import type { TicketSheet } from './ticket-sheet.ts'
import { writeZone } from './write-zone.ts'

/** Which state of the event this is, as calendars compare it: a higher sequence replaces a lower one of the same UID. */
export type CalendarState = { sequence: number; changedAt: string }

const LINE_OCTETS_MAX = 75

/** CRLF, lines folded at 75 octets. A cancelled booking is the same event with METHOD:CANCEL, which takes it out of the calendar. */
export function writeCalendar(sheet: TicketSheet, { sequence, changedAt }: CalendarState): string {
  const cancelled = sheet.status === 'CANCELLED'
  const stamp = utc(changedAt)
  const { startsAt, endsAt, timeZone } = sheet
  const places = sheet.tickets.map(({ place }) => place).join(', ')
  const description = [`Booking ${sheet.reference}`, ...(places ? [`Seats: ${places}`] : [])]
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Holdfast//Tickets//EN',
    'CALSCALE:GREGORIAN',
    `METHOD:${cancelled ? 'CANCEL' : 'PUBLISH'}`,
    ...writeZone(timeZone, startsAt, endsAt ?? startsAt),
    'BEGIN:VEVENT',
    `UID:${sheet.bookingId}@holdfast`,
    `DTSTAMP:${stamp}`,
    `LAST-MODIFIED:${stamp}`,
    `SEQUENCE:${sequence}`,
    `STATUS:${cancelled ? 'CANCELLED' : 'CONFIRMED'}`,
    `DTSTART;TZID=${timeZone}:${local(startsAt, timeZone)}`,
    ...(endsAt === null ? [] : [`DTEND;TZID=${timeZone}:${local(endsAt, timeZone)}`]),
    `SUMMARY:${escapeText(sheet.title)}`,
    `LOCATION:${escapeText([sheet.venue, sheet.area].filter(Boolean).join(', '))}`,
    `DESCRIPTION:${description.map(escapeText).join('\\n')}`,
    'TRANSP:OPAQUE',
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${fold(line)}\r\n`).join('')
}

function utc(instant: string): string {
  const zoned = Temporal.Instant.from(instant).toZonedDateTimeISO('UTC')
  return `${compact(zoned)}Z`
}

function local(instant: string, timeZone: string): string {
  return compact(Temporal.Instant.from(instant).toZonedDateTimeISO(timeZone))
}

/** 20261111T110000 */
function compact(zoned: Temporal.ZonedDateTime): string {
  return zoned.toPlainDateTime().toString({ smallestUnit: 'second' }).replace(/[-:]/g, '')
}

/** One line, whatever it was. */
export function escapeText(text: string): string {
  return plainText(text).replace(/[\\;,]/g, (mark) => `\\${mark}`)
}

/** Never inside a letter of several octets nor inside an escape: some readers unfold only after they have unescaped (B072). */
export function fold(line: string): string {
  let folded = ''
  let octets = 0
  for (const [atom] of line.matchAll(/\\.|./gsu)) {
    const more = Buffer.byteLength(atom)
    if (octets + more > LINE_OCTETS_MAX) {
      folded += '\r\n '
      octets = 1
    }
    folded += atom
    octets += more
  }
  return folded
}
