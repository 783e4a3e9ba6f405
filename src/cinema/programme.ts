// What every request reads again and again, kept in memory: layouts for ever, showtimes, prices and free seats for two seconds.
// Nothing here decides a sale; the engine does, and a price is frozen in the hold at the moment it is placed.
import { LRUCache } from 'lru-cache'
import type { Sql } from '#database/connect.ts'
import { dependsOnToday } from '#pricing/price-list.ts'
import type { Channel, PricedShowing } from '#pricing/priced-showing.ts'
import { priceCategory } from '#pricing/quote-seats.ts'
import { type Availability, countFreeSeats } from './count-free-seats.ts'
import type { Layout } from './layout.ts'
import { readLayout } from './read-layout.ts'
import { readPriceList, type StoredPriceList } from './read-price-list.ts'
import { readShowtime, type Showtime } from './showtime.ts'

// How old a showtime, a price list or a count may be. A price changed in another process takes effect here within this time.
const FRESH_MS = 2000
const LAYOUTS_MAX = 500
const SHOWTIMES_MAX = 5000

export type Programme = {
  showtime(inventoryId: number): Promise<Showtime>
  layout(screenId: number, version: number): Promise<Layout>
  priceList(id: number): Promise<StoredPriceList>
  availability(inventoryIds: number[]): Promise<Map<number, Availability>>
  /** What its price may depend on; `daysBefore` is worked out only for a list that asks. */
  showing(showtime: Showtime, prices: StoredPriceList, channel?: Channel): Promise<PricedShowing>
  /** The cheapest single seat of a showtime, minor units; null when nothing is for sale by seat. */
  priceFromMinor(showtime: Showtime): Promise<number | null>
  /** After a change made by this process, so that its own next answer shows it. */
  forgetPrices(): void
}

export function openProgramme(sql: Sql): Programme {
  const showtimes = new LRUCache<number, Showtime>({
    max: SHOWTIMES_MAX,
    ttl: FRESH_MS,
    fetchMethod: (inventoryId) => readShowtime(sql, inventoryId),
  })
  const layouts = new LRUCache<string, Layout>({
    max: LAYOUTS_MAX,
    fetchMethod: (key) => {
      const [screenId, version] = key.split(':').map(Number)
      return readLayout(sql, screenId ?? 0, version ?? 0)
    },
  })
  const priceLists = new LRUCache<number, StoredPriceList>({
    max: LAYOUTS_MAX,
    ttl: FRESH_MS,
    fetchMethod: (id) => readPriceList(sql, id),
  })
  const todays = new LRUCache<string, string>({
    max: LAYOUTS_MAX,
    ttl: FRESH_MS,
    fetchMethod: async (timeZone) => {
      const [row] = await sql<
        { today: string }[]
      >`select (holdfast_now() at time zone ${timeZone})::date::text as today`
      return known(row).today
    },
  })
  const counts = new LRUCache<number, Availability>({ max: SHOWTIMES_MAX, ttl: FRESH_MS })

  const programme: Programme = {
    // get first: fetch builds promises and an abort controller even for what it has.
    showtime: async (id) => showtimes.get(id) ?? known(await showtimes.fetch(id)),
    layout: async (screenId, version) => {
      const key = `${screenId}:${version}`
      return layouts.get(key) ?? known(await layouts.fetch(key))
    },
    priceList: async (id) => priceLists.get(id) ?? known(await priceLists.fetch(id)),
    forgetPrices: () => priceLists.clear(),

    async availability(inventoryIds) {
      const missing = inventoryIds.filter((id) => !counts.has(id))
      const counted = missing.length > 0 ? await countFreeSeats(sql, missing) : new Map<number, Availability>()
      for (const [id, availability] of counted) counts.set(id, availability)
      const answer = inventoryIds.map((id) => [id, counted.get(id) ?? counts.get(id)] as const)
      return new Map(answer.filter((entry): entry is [number, Availability] => entry[1] !== undefined))
    },

    async showing(showtime, prices, channel = 'WEB') {
      const { businessDay, format, timeZone } = showtime
      const today = dependsOnToday(prices) ? (todays.get(timeZone) ?? known(await todays.fetch(timeZone))) : businessDay
      const { days: daysBefore } = Temporal.PlainDate.from(today).until(businessDay)
      return { businessDay, localTime: localTimeOf(showtime), format, daysBefore, channel }
    },

    async priceFromMinor(showtime) {
      const [layout, list] = await Promise.all([
        programme.layout(showtime.screenId, showtime.layoutVersion),
        programme.priceList(showtime.priceListId),
      ])
      const showing = await programme.showing(showtime, list)
      const prices = layout.categories.map((category) => priceCategory(list, showing, category).amountMinor)
      return prices.length > 0 ? Math.min(...prices) : null
    },
  }
  return programme
}

function localTimeOf({ startsLocal }: Showtime): string {
  return startsLocal.slice(11, 16)
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a fetched value is never undefined')
  return value
}
