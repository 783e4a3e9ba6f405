// Adds a cinema with its zone, its currency and the categories its seats are sold in.
import { MINOR_DIGITS } from '#core/currencies.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { checkZone } from './venue-time.ts'

export type RefundRule = { untilMinutesBefore: number; percent: number }

export type NewCinema = {
  cityId: number
  name: string
  address?: string
  /** IANA name. */
  timeZone: string
  currency: string
  /** In the order of the legend. */
  categories: { code: string; name: string }[]
  businessDayStarts?: string
  cleaningMinutes?: number
  /** The first that still applies wins; absent: all until two hours before, half until the start. */
  refundRules?: RefundRule[]
  externalId?: string
}

/** Answers the id. INVALID_REQUEST on a zone, a currency or a city that does not exist. */
export async function addCinema(tx: Tx, cinema: NewCinema): Promise<number> {
  const errors = [
    ...problemOf('/timeZone', () => checkZone(cinema.timeZone)),
    ...(Object.hasOwn(MINOR_DIGITS, cinema.currency)
      ? []
      : [{ path: '/currency', message: 'is no ISO 4217 currency' }]),
  ]
  const [city] = await tx`select 1 from cities where id = ${cinema.cityId}`
  if (!city) errors.push({ path: '/cityId', message: 'is no city' })
  if (errors.length > 0) throw new Problem('INVALID_REQUEST', { errors })

  const optional = {
    ...(cinema.refundRules === undefined ? {} : { refundRules: tx.json(cinema.refundRules) }),
    ...(cinema.externalId === undefined ? {} : { externalId: cinema.externalId }),
  }
  const row = {
    cityId: cinema.cityId,
    name: cinema.name,
    address: cinema.address ?? '',
    timeZone: cinema.timeZone,
    currency: cinema.currency,
    businessDayStarts: cinema.businessDayStarts ?? '06:00',
    cleaningMinutes: cinema.cleaningMinutes ?? 0,
    ...optional,
  }
  const [added] = await tx<{ id: number }[]>`insert into cinemas ${tx(row)} returning id`
  if (!added) throw new Error('insert into cinemas answered no row')
  const categories = cinema.categories.map((category, position) => ({ cinemaId: added.id, ...category, position }))
  await tx`insert into seat_categories ${tx(categories, 'cinemaId', 'code', 'name', 'position')}`
  return added.id
}

function problemOf(path: string, check: () => void): { path: string; message: string }[] {
  try {
    check()
    return []
  } catch (error) {
    return [{ path, message: error instanceof Error ? error.message : String(error) }]
  }
}
