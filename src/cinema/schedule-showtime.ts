// Publishes a showtime: its seats go on sale, its description is written, and no other show of the screen may overlap it.
import { formatNumbered } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { SALE_AFTER_START_MINUTES } from './showtime.ts'
import { NoSuchTime, type VenueTime, venueTime, type WhichOfTwo } from './venue-time.ts'

export type ShowtimePlan = {
  movieId: number
  screenId: number
  priceListId: number
  /** The venue's wall clock, `2026-12-04T18:45`. */
  startsLocal: string
  /** Needed only in the hour that the clock has twice. */
  which?: WhichOfTwo
  /** From the first advertisement to the last credit; absent: the film's length. */
  minutes?: number
  /** Absent: the newest. */
  layoutVersion?: number
  format?: '2D' | '3D' | 'IMAX'
  language?: string
  captions?: boolean
  audioDescription?: boolean
  /** The venue's wall clock; absent: on sale at once. */
  saleOpensLocal?: string
  externalId?: string
}

type Stage = {
  cinemaId: number
  cinemaName: string
  screenName: string
  timeZone: string
  businessDayStarts: string
  cleaningMinutes: number
  currency: string
  refundRules: { untilMinutesBefore: number; percent: number }[]
  title: string
  minutes: number | null
}

/**
 * One transaction of the caller's. Answers the showtime's number, which is its inventory's. NOT_FOUND: no such film, screen, layout or price list of
 * that cinema. LOCAL_TIME_INVALID {reason}: the clock skips that time, or has it twice. SCREEN_BUSY names the show in the way.
 */
export async function scheduleShowtime(tx: Tx, plan: ShowtimePlan): Promise<number> {
  // Two schedulers of one screen go one after the other; the screen's own foreign keys stay usable.
  const [stage] = await tx<Stage[]>`
    select c.id as cinema_id, c.name as cinema_name, sc.name as screen_name, c.time_zone, c.business_day_starts, c.cleaning_minutes,
      c.currency, c.refund_rules, m.title, coalesce(${plan.minutes ?? null}::int, m.minutes) as minutes
    from screens sc
    join cinemas c on c.id = sc.cinema_id
    join movies m on m.id = ${plan.movieId}
    join price_lists p on p.id = ${plan.priceListId} and p.cinema_id = c.id
    where sc.id = ${plan.screenId} for no key update of sc`
  if (!stage) throw new Problem('NOT_FOUND')
  const { minutes } = stage
  if (minutes === null) throw invalid('/minutes', 'the film has no length: give one')

  const starts = localTime(plan.startsLocal, stage, plan.which)
  const startsAt = Temporal.Instant.from(starts.instant)
  const endsAt = startsAt.add({ minutes }).toString()
  const saleClosesAt = startsAt.add({ minutes: SALE_AFTER_START_MINUTES })
  const saleOpensAt = plan.saleOpensLocal === undefined ? undefined : localTime(plan.saleOpensLocal, stage).instant
  if (saleOpensAt !== undefined && Temporal.Instant.compare(saleOpensAt, saleClosesAt) >= 0) {
    throw invalid('/saleOpensLocal', 'the sale would open after it has closed')
  }
  await refuseOverlap(tx, plan.screenId, starts.instant, endsAt, stage.cleaningMinutes)
  const layout = await newestLayout(tx, plan.screenId, plan.layoutVersion)

  const inventoryId = await postgresStore(tx).open({
    seats: layout.codes,
    saleClosesAt: saleClosesAt.toString(),
    ...(saleOpensAt === undefined ? {} : { saleOpensAt }),
  })
  await tx`
    with described as (
      insert into inventory_descriptions (inventory_id, trade, title, venue, area, starts_at, ends_at, time_zone, currency, refund_rules)
      values (${inventoryId}, 'cinema', ${stage.title}, ${stage.cinemaName}, ${stage.screenName}, ${starts.instant}, ${endsAt},
        ${stage.timeZone}, ${stage.currency}, ${tx.json(stage.refundRules)}))
    insert into showtimes (inventory_id, movie_id, cinema_id, screen_id, layout_version, price_list_id, starts_at, ends_at, starts_local,
      business_day, format, language, captions, audio_description, external_id)
    values (${inventoryId}, ${plan.movieId}, ${stage.cinemaId}, ${plan.screenId}, ${layout.version}, ${plan.priceListId}, ${starts.instant},
      ${endsAt}, ${starts.local}, ${starts.businessDay}, ${plan.format ?? '2D'}, ${plan.language ?? null}, ${plan.captions ?? false},
      ${plan.audioDescription ?? false}, ${plan.externalId ?? null})`
  return inventoryId
}

/** For what is scheduled by a machine: null when the screen is busy, which is refused before anything is written. Other errors as above. */
export async function scheduleIfFree(tx: Tx, plan: ShowtimePlan): Promise<number | null> {
  try {
    return await scheduleShowtime(tx, plan)
  } catch (error) {
    if (error instanceof Problem && error.code === 'SCREEN_BUSY') return null
    throw error
  }
}

function invalid(path: string, message: string): Problem {
  return new Problem('INVALID_REQUEST', { errors: [{ path, message }] })
}

function localTime(local: string, stage: Stage, which?: WhichOfTwo): VenueTime {
  try {
    return venueTime(local, stage.timeZone, stage.businessDayStarts, which)
  } catch (error) {
    if (error instanceof NoSuchTime)
      throw new Problem('LOCAL_TIME_INVALID', { reason: error.reason, detail: `${error.message}.` })
    throw error
  }
}

// Half-open: a show may start at the very moment the hall is clean again.
async function refuseOverlap(
  tx: Tx,
  screenId: number,
  startsAt: string,
  endsAt: string,
  cleaningMinutes: number,
): Promise<void> {
  const [other] = await tx<
    { inventoryId: number; title: string; startsAt: string; endsAt: string; startsLocal: string }[]
  >`
    select s.inventory_id, m.title, s.starts_at, s.ends_at, s.starts_local from showtimes s join movies m on m.id = s.movie_id
    where s.screen_id = ${screenId} and s.status = 'SCHEDULED'
      and s.starts_at < ${endsAt}::timestamptz + make_interval(mins => ${cleaningMinutes})
      and s.ends_at + make_interval(mins => ${cleaningMinutes}) > ${startsAt}::timestamptz
    order by s.starts_at limit 1`
  if (!other) return
  const { inventoryId, ...inTheWay } = other
  throw new Problem('SCREEN_BUSY', { showtime: { id: formatNumbered('show', inventoryId), ...inTheWay } })
}

async function newestLayout(tx: Tx, screenId: number, version?: number): Promise<{ version: number; codes: string[] }> {
  const [layout] = await tx<{ version: number; codes: string[] }[]>`
    select l.version, array(select s.seat_code from layout_seats s
      where s.screen_id = l.screen_id and s.layout_version = l.version order by s.position) as codes
    from layouts l where l.screen_id = ${screenId} and (${version ?? null}::int is null or l.version = ${version ?? null})
    order by l.version desc limit 1`
  if (!layout) throw new Problem('NOT_FOUND')
  return layout
}
