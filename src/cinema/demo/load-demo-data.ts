// Gives an empty database something to try: a real house from its box-office feed, three invented ones, and a schedule that is always ahead.
import type { Sql, Tx } from '#database/connect.ts'
import { addCinema } from '../add-cinema.ts'
import { addMovie } from '../add-movie.ts'
import { addScreen } from '../add-screen.ts'
import { addPriceList } from '../write-price-list.ts'
import { demoFilms } from './films.ts'
import { DEMO_HOUSES, type DemoHouse } from './houses.ts'
import { keepDemoScheduleAhead } from './keep-schedule-ahead.ts'

// Any number will do, as long as every process that starts on one database asks for the same one.
const DEMO_LOCK = 4_207_118

/**
 * Once for a database, however many processes start: `loaded` is false when the demonstration is there already, and when the database has cinemas of its
 * own, which are nobody's playground. `now` is RFC 3339. Measured: 2 to 4 s for the first load on two busy cores, all in one transaction but the schedule.
 */
export async function loadDemoData(
  sql: Sql,
  { now }: { now: string },
): Promise<{ loaded: boolean; showtimes: number }> {
  const loaded = await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${DEMO_LOCK})`
    const [cinema] = await tx`select 1 from cinemas limit 1`
    if (cinema) return false
    for (const film of demoFilms()) await addMovie(tx, film)
    for (const house of DEMO_HOUSES) await addHouse(tx, house)
    return true
  })
  return { loaded, showtimes: await keepDemoScheduleAhead(sql, { now }) }
}

async function addHouse(tx: Tx, house: DemoHouse): Promise<void> {
  const { code, name, address, city, country, timeZone, currency, categories, taxBasisPoints, rules, screens } = house
  const [row] = await tx<{ id: number }[]>`
    insert into cities (name, country) values (${city}, ${country}) on conflict (country, name) do update set name = excluded.name returning id`
  const cinemaId = await addCinema(tx, {
    cityId: row?.id ?? 0,
    ...{ name, address, timeZone, currency, categories },
    cleaningMinutes: 15,
    externalId: code,
  })
  await addPriceList(tx, { cinemaId, name: 'Prices', taxBasisPoints, rules, externalId: `${code}:prices` })
  for (const screen of screens) {
    const { seats, singleSeatsRefused = false } = screen
    await addScreen(tx, {
      cinemaId,
      name: screen.name,
      seats,
      singleSeatsRefused,
      externalId: `${code}:${screen.name}`,
    })
  }
}
