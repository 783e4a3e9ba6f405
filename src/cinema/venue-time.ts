// Times as a venue means them: its wall clock, its zone with the clock changes, its programme day. The only place that turns one into another.

/** What the clock of a venue says, and the one instant it means. */
export type VenueTime = {
  /** RFC 3339 in UTC. */
  instant: string
  /** The wall clock with the offset of that very day: `2026-11-11T11:00:00-08:00`. */
  local: string
  /** The day of the programme it stands in: 00:35 belongs to the evening before while the day starts at 06:00. */
  businessDay: string
}

/** Why a wall-clock time names no single instant. `gap`: the clock skips it. `doubled`: it happens twice and nobody said which. */
export class NoSuchTime extends RangeError {
  readonly reason: 'gap' | 'doubled' | 'malformed' | 'zone'

  constructor(reason: NoSuchTime['reason'], sentence: string) {
    super(sentence)
    this.reason = reason
  }
}

export type WhichOfTwo = 'earlier' | 'later'

const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/

/** `2026-12-04T18:45` on the clock of `timeZone`. Throws NoSuchTime on a time the clock skips, or has twice without `which`. */
export function venueTime(localText: string, timeZone: string, dayStarts: string, which?: WhichOfTwo): VenueTime {
  const local = readLocal(localText)
  const earlier = inZone(local, timeZone, 'earlier')
  const later = inZone(local, timeZone, 'later')
  if (!earlier.toPlainDateTime().equals(local)) {
    throw new NoSuchTime('gap', `${localText} does not exist in ${timeZone}: the clock goes forward over it`)
  }
  if (!earlier.equals(later) && which === undefined) {
    const both = `${clock(earlier)} and ${clock(later)}`
    throw new NoSuchTime(
      'doubled',
      `${localText} happens twice in ${timeZone} (${both}): say which, "earlier" or "later"`,
    )
  }
  return described(which === 'later' ? later : earlier, dayStarts)
}

/** The same of an instant that is known already. */
export function venueTimeOf(instant: string, timeZone: string, dayStarts: string): VenueTime {
  return described(Temporal.Instant.from(instant).toZonedDateTimeISO(timeZone), dayStarts)
}

/** Throws NoSuchTime when there is no such IANA zone. */
export function checkZone(timeZone: string): void {
  // An offset such as +02:00 would be taken by Temporal, and be wrong after the next clock change.
  const named = /^[A-Za-z]/.test(timeZone)
  try {
    if (named) Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timeZone)
  } catch {
    throw new NoSuchTime('zone', `${timeZone} is no IANA time zone`)
  }
  if (!named) throw new NoSuchTime('zone', `${timeZone} is no IANA time zone`)
}

function readLocal(text: string): Temporal.PlainDateTime {
  try {
    if (LOCAL.test(text)) return Temporal.PlainDateTime.from(text, { overflow: 'reject' })
  } catch {}
  throw new NoSuchTime('malformed', `${JSON.stringify(text)} is no local time like 2026-12-04T18:45`)
}

function inZone(local: Temporal.PlainDateTime, timeZone: string, disambiguation: WhichOfTwo): Temporal.ZonedDateTime {
  return local.toZonedDateTime(timeZone, { disambiguation })
}

function described(zoned: Temporal.ZonedDateTime, dayStarts: string): VenueTime {
  const wall = zoned.toPlainDateTime()
  const early = Temporal.PlainTime.compare(wall.toPlainTime(), Temporal.PlainTime.from(dayStarts)) < 0
  const day = wall.toPlainDate().subtract({ days: early ? 1 : 0 })
  return { instant: zoned.toInstant().toString(), local: clock(zoned), businessDay: day.toString() }
}

function clock(zoned: Temporal.ZonedDateTime): string {
  return zoned.toString({ timeZoneName: 'never', smallestUnit: 'second' })
}
