// Puts one sound session of a feed on sale, once: found again by its external id, never moved, never put over another show.
import { formatNumbered } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { scheduleIfFree } from '../schedule-showtime.ts'
import { venueTime } from '../venue-time.ts'
import type { FeedSession } from './read-sessions.ts'

export type Publishing = {
  timeZone: string
  businessDayStarts: string
  /** The external id of a session. */
  externalIdOf: (sessionId: string) => string
  /** Our ids by the feed's codes. */
  screens: Map<string, number>
  movies: Map<string, number>
  priceLists: Map<string, number>
}

/** Answers what became of it, or why it was left out. */
export async function publishSession(
  tx: Tx,
  at: Publishing,
  session: FeedSession,
): Promise<'imported' | 'unchanged' | { reason: string }> {
  const externalId = at.externalIdOf(session.id)
  const [kept] = await tx<{ inventoryId: number; startsAt: string }[]>`
    select inventory_id, starts_at from showtimes where external_id = ${externalId}`
  if (kept) {
    const { instant } = venueTime(session.startsLocal, at.timeZone, at.businessDayStarts)
    if (Temporal.Instant.from(kept.startsAt).equals(instant)) return 'unchanged'
    return {
      reason: `it is on sale here as ${formatNumbered('show', kept.inventoryId)} at another time; an import does not move it`,
    }
  }
  const { startsLocal, minutes, captions, audioDescription } = session
  const inventoryId = await scheduleIfFree(tx, {
    movieId: at.movies.get(session.movie) ?? 0,
    screenId: at.screens.get(session.screen) ?? 0,
    priceListId: at.priceLists.get(session.priceList) ?? 0,
    ...{ startsLocal, minutes, captions, audioDescription, externalId },
  })
  if (inventoryId === null) return { reason: 'another show is on this screen here at that time' }
  await takeOffSale(tx, inventoryId, session.soldElsewhere)
  return 'imported'
}

/** Sessions the feed has cancelled since they were put on sale here: an import never takes a sold show away, people decide that. */
export async function stillOnSale(tx: Tx, at: Publishing, cancelled: string[]): Promise<string[]> {
  const rows = await tx<{ inventoryId: number; externalId: string }[]>`
    select inventory_id, external_id from showtimes
    where external_id = any (${cancelled.map(at.externalIdOf)}::text[]) and status = 'SCHEDULED' order by inventory_id`
  return rows.map(
    (row) =>
      `${row.externalId} is cancelled in the feed and still on sale here as ${formatNumbered('show', row.inventoryId)}.`,
  )
}

// As many as the box office has sold, so that both together never sell more than there are: from the front, where buyers miss them least.
async function takeOffSale(tx: Tx, inventoryId: number, count: number): Promise<void> {
  if (count === 0) return
  const seats = await tx<{ seatCode: string }[]>`
    select l.seat_code from showtimes s join layout_seats l on l.screen_id = s.screen_id and l.layout_version = s.layout_version
    where s.inventory_id = ${inventoryId} order by l.kind <> 'NORMAL', l.position limit ${count}`
  const codes = seats.map((seat) => seat.seatCode)
  const reason = 'Sold in the box-office system; the feed does not say which seat'
  const { outcome } = await postgresStore(tx).block(inventoryId, codes, 'import', reason)
  if (outcome !== 'BLOCKED') throw new Error(`seats of the new showtime ${inventoryId} could not be blocked`)
}
