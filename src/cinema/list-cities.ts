// The cities with their cinemas: the first thing a visitor chooses.
import { formatNumbered } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'
import { type CinemaView, listCinemas } from './list-cinemas.ts'

export type CityView = { id: string; name: string; country: string; cinemas: CinemaView[] }

/** By name. A city without a cinema is not shown. */
export async function listCities(sql: Tx): Promise<CityView[]> {
  const cities = await sql<
    { id: number; name: string; country: string }[]
  >`select id, name, country from cities order by name, id`
  const cinemas = await listCinemas(sql, {})
  return cities
    .map((city) => ({ ...city, id: formatNumbered('city', city.id) }))
    .map((city) => ({ ...city, cinemas: cinemas.filter((cinema) => cinema.city.id === city.id) }))
    .filter((city) => city.cinemas.length > 0)
}
