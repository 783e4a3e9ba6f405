// A house to test with: one cinema of two screens, its prices and a film, on a server of its own whose database clock stands still.
import type { TestContext } from 'node:test'
import { addCinema, type NewCinema } from '#cinema/add-cinema.ts'
import { addCity } from '#cinema/add-city.ts'
import { addMovie } from '#cinema/add-movie.ts'
import { addScreen } from '#cinema/add-screen.ts'
import { seatsOfPattern } from '#cinema/row-pattern.ts'
import { type ShowtimePlan, scheduleShowtime } from '#cinema/schedule-showtime.ts'
import { addPriceList } from '#cinema/write-price-list.ts'
import type { Environment } from '#config.ts'
import { type TestApp, testApp } from '#test/http/test-app.ts'

/** A Tuesday, 11:00 in Melbourne. */
export const NOW = '2026-12-01T00:00:00Z'

export type SmallHouse = TestApp & {
  cityId: number
  cinemaId: number
  movieId: number
  priceListId: number
  /** Rows A to F of 10 with an aisle after 5; F is RECLINER; A1 and A10 are ACCESSIBLE. */
  screenId: number
  /** One row A of 6; refuses single seats. */
  strictScreenId: number
  /** Publishes a show, by default on Friday 4 December at 18:45 in the big hall. Answers its public id. */
  show(plan?: Partial<ShowtimePlan>): Promise<string>
  get(url: string, headers?: Headers): Promise<Reply>
  post(url: string, body: unknown, headers?: Headers): Promise<Reply>
}

/** What TestApp's customer() and key() answer, and more. */
type Headers = Record<string, string | number>

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
export type Reply = { status: number; headers: Record<string, unknown>; text: string; body: any }

export async function smallHouse(
  t: TestContext,
  env: Environment = {},
  cinema: Partial<NewCinema> = {},
  changes: Parameters<typeof testApp>[2] = {},
): Promise<SmallHouse> {
  const server = await testApp(t, env, changes)
  const { sql } = server.db
  await server.db.freezeClock(NOW)
  const cityId = await addCity(sql, { name: 'Melbourne', country: 'AU' })
  const categories = [
    { code: 'CLASSIC', name: 'Classic' },
    { code: 'RECLINER', name: 'Recliner' },
  ]
  const cinemaId = await addCinema(sql, {
    cityId,
    name: 'Little House',
    timeZone: 'Australia/Melbourne',
    currency: 'AUD',
    categories,
    ...cinema,
  })
  const priceListId = await addPriceList(sql, {
    cinemaId,
    name: 'Prices',
    taxBasisPoints: 1000,
    rules: [
      { strategy: 'base_price', label: 'Classic', terms: { category: 'CLASSIC', amountMinor: 1300 } },
      { strategy: 'base_price', label: 'Recliner', terms: { category: 'RECLINER', amountMinor: 2000 } },
      { strategy: 'day_of_week', label: 'Weekend', terms: { days: [6, 7], amountMinor: 300 } },
      { strategy: 'booking_fee', label: 'Booking fee', terms: { amountMinor: 110 } },
    ],
  })
  const big = seatsOfPattern({
    rows: 6,
    seatsPerRow: 10,
    category: 'CLASSIC',
    categoryOfRow: { F: 'RECLINER' },
    kindOfSeat: { A1: 'ACCESSIBLE', A10: 'ACCESSIBLE' },
    aislesAfter: [5],
  })
  const screenId = await addScreen(sql, { cinemaId, name: 'Big', seats: big })
  const row = seatsOfPattern({ rows: 1, seatsPerRow: 6, category: 'CLASSIC' })
  const strictScreenId = await addScreen(sql, { cinemaId, name: 'Strict', seats: row, singleSeatsRefused: true })
  const movieId = await addMovie(sql, { title: 'Léon: The Professional', year: 1994, minutes: 110 })

  return {
    ...server,
    ...{ cityId, cinemaId, movieId, priceListId, screenId, strictScreenId },
    async show(plan = {}) {
      const whole = { movieId, screenId, priceListId, startsLocal: '2026-12-04T18:45', ...plan }
      return `show_${await sql.begin((tx) => scheduleShowtime(tx, whole))}`
    },
    async get(url, headers = {}) {
      return reply(await server.app.inject({ method: 'GET', url, headers }))
    },
    async post(url, body, headers = {}) {
      return reply(await server.app.inject({ method: 'POST', url, headers, payload: body as object }))
    },
  }
}

function reply({
  statusCode,
  headers,
  payload,
}: {
  statusCode: number
  headers: Record<string, unknown>
  payload: string
}): Reply {
  const json = String(headers['content-type'] ?? '').includes('json')
  return { status: statusCode, headers, text: payload, body: json && payload !== '' ? JSON.parse(payload) : null }
}
