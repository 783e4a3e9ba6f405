// The times of a box-office feed: wall clock without a zone, now and then a full instant, and a sentinel for "none". Everything else is refused.
import { venueTimeOf } from '../venue-time.ts'
import { RowFault } from './rows.ts'

// Day zero of the box-office system's calendar.
const NONE = /^18991230/
const BASIC = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})$/
const EXTENDED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/

/** On the venue's clock, `2025-08-21T10:30:00`; null for none. RowFault on what is malformed or contradicts itself, never a guess. */
export function readFeedTime(text: string, timeZone: string): string | null {
  if (NONE.test(text)) return null
  try {
    if (INSTANT.test(text)) return venueTimeOf(text, timeZone, '00:00').local.slice(0, 19)
    const local = text.replace(BASIC, '$1-$2-$3T$4:$5:$6')
    if (EXTENDED.test(local)) return Temporal.PlainDateTime.from(local, { overflow: 'reject' }).toString()
  } catch {}
  throw new RowFault(`${JSON.stringify(text)} is no time`)
}
