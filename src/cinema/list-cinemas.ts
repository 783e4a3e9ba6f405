// Cinemas as a visitor sees them, with their screens; also the one that is asked for by its id.
import { formatNumbered } from '#core/ids.ts'
import type { Tx } from '#database/connect.ts'

export type CinemaView = {
  id: string
  name: string
  address: string
  city: { id: string; name: string }
  timeZone: string
  currency: string
  screens: { id: string; name: string; seats: number }[]
}

type CinemaRow = {
  id: number
  name: string
  address: string
  cityId: number
  cityName: string
  timeZone: string
  currency: string
  screens: { id: number; name: string; seats: number }[]
}

/** By city and name; a screen's seats are those of its newest layout. */
export async function listCinemas(sql: Tx, wanted: { cityId?: number | null; id?: number }): Promise<CinemaView[]> {
  const rows = await sql<CinemaRow[]>`
    select c.id, c.name, c.address, c.city_id, ci.name as city_name, c.time_zone, c.currency,
      coalesce((select jsonb_agg(jsonb_build_object('id', sc.id, 'name', sc.name, 'seats',
          (select count(*) from layout_seats l where l.screen_id = sc.id
            and l.layout_version = (select max(v.version) from layouts v where v.screen_id = sc.id))) order by sc.id)
        from screens sc where sc.cinema_id = c.id), '[]') as screens
    from cinemas c join cities ci on ci.id = c.city_id
    where (${wanted.cityId ?? null}::bigint is null or c.city_id = ${wanted.cityId ?? null})
      and (${wanted.id ?? null}::bigint is null or c.id = ${wanted.id ?? null})
    order by ci.name, c.name, c.id`
  return rows.map(({ cityId, cityName, ...cinema }) => ({
    ...cinema,
    id: formatNumbered('cinema', cinema.id),
    city: { id: formatNumbered('city', cityId), name: cityName },
    screens: cinema.screens.map((screen) => ({ ...screen, id: formatNumbered('screen', screen.id) })),
  }))
}
