// The sessions of a box-office feed, each proved sound or left out with the reason. Cancelled ones still sit in the list: they are counted apart.
import { NoSuchTime, type VenueTime, venueTime } from '../venue-time.ts'
import { readFeedTime } from './feed-time.ts'
import type { FeedMovie, FeedPriceList, FeedScreen } from './read-catalogue.ts'
import { flagOf, type Row, RowFault, readRows, refuseTwice, type SkippedRow, textOf, wholeOf } from './rows.ts'

export type FeedSession = {
  id: string
  /** Its row in the feed, from 1. */
  row: number
  screen: string
  movie: string
  priceList: string
  startsLocal: string
  minutes: number
  /** Seats the box office has sold already; the feed does not say which. */
  soldElsewhere: number
  captions: boolean
  audioDescription: boolean
}

type Known = {
  screens: FeedScreen[]
  movies: FeedMovie[]
  priceLists: FeedPriceList[]
  timeZone: string
  businessDayStarts: string
}
type Span = { id: string; screen: string; from: string; to: string }

/** `weeksLater` moves every session by whole weeks: weekday and wall clock stay. */
export function readSessions(
  feed: Row,
  known: Known,
  weeksLater: number,
  skipped: SkippedRow[],
): { sessions: FeedSession[]; cancelled: string[] } {
  const spans = liveSpans(feed, known, weeksLater)
  const cancelled: string[] = []
  const seen = new Set<string>()
  const sessions = readRows(feed, 'Sessions', 'Session_Index', skipped, (row, id, number): FeedSession | null => {
    refuseTwice(seen, id)
    if (flagOf(row, 'Session_Cancelled')) {
      cancelled.push(id)
      return null
    }
    const screen = oneOf(known.screens, textOf(row, 'Session_Venue_Code'), 'venue')
    const movie = oneOf(known.movies, textOf(row, 'Session_Movie_Code'), 'movie')
    const priceList = oneOf(known.priceLists, textOf(row, 'Session_Price_Group_Code'), 'price group')
    const span = readSpan(row, id, known, weeksLater)
    const other = spans.find(
      (one) => one.id !== id && one.screen === screen.code && one.from < span.to && span.from < one.to,
    )
    if (other)
      throw new RowFault(`it overlaps session ${other.id} on the same screen, and the feed does not say which is right`)
    return {
      id,
      row: number,
      screen: screen.code,
      movie: movie.code,
      priceList: priceList.code,
      startsLocal: span.startsLocal,
      minutes: span.minutes,
      soldElsewhere: soldSeats(row, screen.capacity),
      captions: flagOf(row, 'Session_Open_Caption') || flagOf(row, 'Session_Closed_Caption'),
      audioDescription: flagOf(row, 'Session_Audio_Description'),
    }
  })
  return { sessions: sessions.filter((session) => session !== null), cancelled }
}

// Every live session with readable times takes its screen, sound or not otherwise.
function liveSpans(feed: Row, known: Known, weeksLater: number): Span[] {
  return readRows(feed, 'Sessions', 'Session_Index', [], (row, id) => {
    if (flagOf(row, 'Session_Cancelled')) throw new RowFault('cancelled')
    const { from, to } = readSpan(row, id, known, weeksLater)
    return { id, screen: textOf(row, 'Session_Venue_Code'), from, to }
  })
}

function readSpan(
  row: Row,
  id: string,
  known: Known,
  weeksLater: number,
): Span & { startsLocal: string; minutes: number } {
  const local = (field: string): string => {
    const time = readFeedTime(textOf(row, field), known.timeZone)
    if (time === null) throw new RowFault(`${field} is the sentinel for none`)
    return Temporal.PlainDateTime.from(time).add({ weeks: weeksLater }).toString()
  }
  const startsLocal = local('Session_Date_Time')
  const start = inVenue(startsLocal, known)
  const end = inVenue(local('Session_End_Time'), known)
  const minutes = Temporal.Instant.from(end.instant).since(Temporal.Instant.from(start.instant)).total('minutes')
  if (minutes <= 0) throw new RowFault('it ends before it starts')
  if (!Number.isInteger(minutes)) throw new RowFault('it does not end on a whole minute')
  const accounted = local('Session_Accounting_Date')
  if (accounted !== `${start.businessDay}T${known.businessDayStarts}:00`) {
    throw new RowFault(
      `it is accounted to ${accounted}, but its start belongs to the programme of ${start.businessDay}`,
    )
  }
  return { id, screen: textOf(row, 'Session_Venue_Code'), from: start.instant, to: end.instant, startsLocal, minutes }
}

function inVenue(local: string, { timeZone, businessDayStarts }: Known): VenueTime {
  try {
    return venueTime(local, timeZone, businessDayStarts)
  } catch (error) {
    if (error instanceof NoSuchTime) throw new RowFault(error.message)
    throw error
  }
}

function soldSeats(row: Row, capacity: number): number {
  const initial = wholeOf(row, 'Session_Initial_Seats')
  const remaining = wholeOf(row, 'Session_Seats_Remaining')
  if (remaining > initial) throw new RowFault(`${remaining} seats remain, but it started with ${initial}`)
  if (remaining < 0 || remaining > capacity) throw new RowFault(`${remaining} seats remain in a hall of ${capacity}`)
  return capacity - remaining
}

function oneOf<T extends { code: string }>(list: T[], code: string, what: string): T {
  const found = list.find((one) => one.code === code)
  if (!found) throw new RowFault(`unknown ${what} ${JSON.stringify(code)}, or one that was not taken`)
  return found
}
