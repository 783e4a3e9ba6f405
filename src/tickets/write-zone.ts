// Writes the clock of a venue into a calendar file: the offset that holds when the show begins, and each change until it ends.
// The times of the changes are spelt out instead of a yearly rule: a rule would promise years that no parliament has decided on.

type Change = {
  /** The wall clock at the change as it ran before it, which is how RFC 5545 (3.6.5) writes it. */
  wall: Temporal.PlainDateTime
  from: string
  to: string
}

/** The lines of a VTIMEZONE. Throws RangeError when there is no such zone. */
export function writeZone(timeZone: string, startsAt: string, endsAt: string): string[] {
  const changes = changesDuring(timeZone, startsAt, endsAt)
  return [
    'BEGIN:VTIMEZONE',
    `TZID:${timeZone}`,
    ...changes.flatMap(({ wall, from, to }) => {
      const kind = isSummer(to, timeZone, startsAt) ? 'DAYLIGHT' : 'STANDARD'
      const onset = wall.toString({ smallestUnit: 'second' }).replace(/[-:]/g, '')
      const offsets = [`TZOFFSETFROM:${offset(from)}`, `TZOFFSETTO:${offset(to)}`]
      return [`BEGIN:${kind}`, `DTSTART:${onset}`, ...offsets, `END:${kind}`]
    }),
    'END:VTIMEZONE',
  ]
}

/** The last change at or before the beginning, then those up to the end; a zone whose clock never changed has one offset since ever. */
function changesDuring(timeZone: string, startsAt: string, endsAt: string): Change[] {
  const start = Temporal.Instant.from(startsAt).toZonedDateTimeISO(timeZone)
  const end = Temporal.Instant.from(endsAt)
  const first = start.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')
  const changes = first
    ? [changeAt(first)]
    : [{ wall: Temporal.PlainDateTime.from('1970-01-01T00:00'), from: start.offset, to: start.offset }]
  for (let next = start.getTimeZoneTransition('next'); next; next = next.getTimeZoneTransition('next')) {
    if (Temporal.Instant.compare(next.toInstant(), end) > 0) break
    changes.push(changeAt(next))
  }
  return changes
}

function changeAt(change: Temporal.ZonedDateTime): Change {
  const before = change.subtract({ nanoseconds: 1 })
  const wall = change.toInstant().toZonedDateTimeISO(before.offset).toPlainDateTime()
  return { wall, from: before.offset, to: change.offset }
}

// Summer time is whatever is ahead of the other half of the year.
function isSummer(to: string, timeZone: string, startsAt: string): boolean {
  const { year } = Temporal.Instant.from(startsAt).toZonedDateTimeISO(timeZone)
  const offsets = [1, 7].map(
    (month) => Temporal.PlainDate.from({ year, month, day: 1 }).toZonedDateTime(timeZone).offsetNanoseconds,
  )
  const ours = Temporal.Instant.from(startsAt).toZonedDateTimeISO(to).offsetNanoseconds
  return ours > Math.min(...offsets)
}

/** +05:30 -> +0530 */
function offset(text: string): string {
  return text.replaceAll(':', '')
}
