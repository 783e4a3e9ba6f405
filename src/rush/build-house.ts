// Builds a big house with one show through the administration's doors: stalls, circle and balcony, three prices, opening night in two weeks.
import { StartRefused } from '#database/start-refused.ts'
import type { Wire } from './wire.ts'

const TIME_ZONE = 'Europe/London'
const DAYS_AHEAD = 14
const SHARES = { STALLS: 0.6, CIRCLE: 0.25, BALCONY: 0.15 }
const PRICES_MINOR = { STALLS: 4_500, CIRCLE: 6_500, BALCONY: 2_500 }
// A house is wider than it is deep.
const WIDTH_OF_DEPTH = 1.3

type Section = keyof typeof SHARES

/** About so many seats, for rows are even. Answers the show's id. */
export async function buildHouse(wire: Wire, adminKey: string, seats: number): Promise<string> {
  const cityId = await add('cities', { name: 'Rush', country: 'GB' })
  const cinemaId = await add('cinemas', {
    ...{ cityId, name: 'The Grand', timeZone: TIME_ZONE, currency: 'GBP' },
    categories: Object.keys(SHARES).map((code) => ({ code, name: code[0] + code.slice(1).toLowerCase() })),
  })
  const rules = Object.entries(PRICES_MINOR).map(([category, amountMinor]) => ({
    ...{ strategy: 'base_price', label: 'Opening night', terms: { category, amountMinor } },
  }))
  const priceListId = await add(`cinemas/${cinemaId}/price-lists`, {
    name: 'Opening night',
    taxBasisPoints: 2_000,
    rules,
  })
  const screenId = await add(`cinemas/${cinemaId}/screens`, { name: 'Great Hall', patterns: patternsOf(seats) })
  const movieId = await add('movies', { title: 'Opening Night', minutes: 120 })
  const day = Temporal.Now.plainDateISO(TIME_ZONE).add({ days: DAYS_AHEAD })
  return add('showtimes', { movieId, screenId, priceListId, startsLocal: `${day}T20:00` })

  async function add(what: string, body: object): Promise<string> {
    const headers = { authorization: `Bearer ${adminKey}` }
    const reply = await wire.ask('session', `/v1/admin/${what}`, { method: 'POST', body, headers })
    if (reply.status !== 201)
      throw new StartRefused(`The house cannot be built: ${what} answers ${reply.status} ${reply.code ?? ''}.`)
    return reply.read<{ id: string }>().id
  }
}

// From the stage backwards; a section begins two rows behind the last one, and all are as wide, so that they stand in the middle.
function patternsOf(seats: number): object[] {
  const seatsPerRow = Math.max(4, Math.round(Math.sqrt(seats * WIDTH_OF_DEPTH)))
  const aislesAfter = seatsPerRow >= 12 ? [Math.floor(seatsPerRow / 3), seatsPerRow - Math.floor(seatsPerRow / 3)] : []
  let firstRowAt = 3
  return (Object.keys(SHARES) as Section[]).map((section) => {
    const rows = Math.max(1, Math.round((seats * SHARES[section]) / seatsPerRow))
    const pattern = {
      section,
      codePrefix: `${section[0]}-`,
      rows,
      seatsPerRow,
      category: section,
      firstRowAt,
      aislesAfter,
    }
    firstRowAt += rows + 2
    return { ...pattern, bend: 1.5 }
  })
}
