// When a show begins, in the words and on the clock of its venue, whoever reads it and wherever: `Wednesday 11 November 2026`, `11:00`,
// `PST, UTC-08:00 America/Los_Angeles`. The offset and the letters are those of that day, not of today (B060, B062, B065).

export type StartInWords = { day: string; time: string; zone: string }

// Each English names the zones of its own part of the world by letters; whoever does not know a zone says GMT+1.
const ENGLISHES = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA']

/** `startsAt` is RFC 3339; throws RangeError on a zone there is not. */
export function startInWords(startsAt: string, timeZone: string, language: string): StartInWords {
  const zoned = Temporal.Instant.from(startsAt).toZonedDateTimeISO(timeZone)
  const ms = zoned.epochMilliseconds
  const day = new Intl.DateTimeFormat(language, {
    ...{ timeZone, weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' },
  }).format(ms)
  const time = zoned.toPlainTime().toString({ smallestUnit: 'minute' })
  const letters = zoneLetters(ms, timeZone)
  return { day, time, zone: `${letters ? `${letters}, ` : ''}UTC${zoned.offset} ${timeZone}` }
}

function zoneLetters(ms: number, timeZone: string): string | null {
  for (const english of ENGLISHES) {
    const parts = new Intl.DateTimeFormat(english, { timeZone, timeZoneName: 'short' }).formatToParts(ms)
    const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
    if (/^[A-Z]{2,5}$/.test(name)) return name
  }
  return null
}
