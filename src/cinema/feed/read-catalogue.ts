// The standing part of a box-office feed: the house, its screens, its films and its prices.
import { MINOR_DIGITS } from '#core/currencies.ts'
import { parseMinor } from '#core/money.ts'
import { Problem } from '#core/problem.ts'
import type { PriceRule } from '#pricing/price-list.ts'
import { LAYOUT_SEATS_MAX } from '../add-layout.ts'
import { cleanTitle } from '../clean-title.ts'
import { checkZone } from '../venue-time.ts'
import { readFeedTime } from './feed-time.ts'
import {
  decimalOf,
  flagOf,
  type Row,
  RowFault,
  readRows,
  refuseTwice,
  type SkippedRow,
  textOf,
  wholeOf,
} from './rows.ts'

export type FeedHouse = {
  code: string
  name: string
  city: string
  country: string
  timeZone: string
  currency: string
  taxBasisPoints: number
}
export type FeedScreen = { code: string; name: string; capacity: number; singleSeatsRefused: boolean }
export type FeedMovie = { code: string; title: string; year: number | null; minutes: number; certificate: string }
export type FeedPriceList = { code: string; name: string; rules: PriceRule[] }

/** What the feed does not say itself. */
export type HouseOptions = { timeZone?: string; currency?: string; city?: string }

export const SEAT_CATEGORY = { code: 'STANDARD', name: 'Standard' }
// The feed prices tickets by type; the full-price one is what a seat costs until other ticket types are sold.
const FULL_PRICE_TICKET = 'ADULT'

// Countries a feed has come from, with what it leaves out.
const COUNTRIES: Readonly<Record<string, { code: string; currency: string }>> = {
  Australia: { code: 'AU', currency: 'AUD' },
  'New Zealand': { code: 'NZ', currency: 'NZD' },
}

/** FEED_UNREADABLE when something the whole house depends on is neither in the feed nor in the options. */
export function readHouse(feed: Row, options: HouseOptions): FeedHouse {
  const house = feed.Installation as Row | undefined
  if (!house) throw new Problem('FEED_UNREADABLE', { detail: 'The feed has no Installation.' })
  try {
    const country = COUNTRIES[textOf(house, 'Installation_Country')]
    if (!country) throw new RowFault('Installation_Country is not known')
    const timeZone = options.timeZone ?? String(house.Timezone_Not_In_Feed ?? '').split(' ', 1)[0] ?? ''
    if (timeZone === '') throw new RowFault('it names no time zone: give one')
    checkZone(timeZone)
    const currency = options.currency ?? country.currency
    if (!Object.hasOwn(MINOR_DIGITS, currency)) throw new RowFault(`${currency} is no currency`)
    const city = options.city ?? timeZone.split('/').at(-1)?.replaceAll('_', ' ') ?? timeZone
    const taxBasisPoints = parseMinor(decimalOf(house, 'Misc_Tax_Rate'), 'EUR')
    const name = cleanTitle(textOf(house, 'Installation_Name'))
    return {
      code: textOf(house, 'Installation_Code'),
      name,
      city,
      country: country.code,
      timeZone,
      currency,
      taxBasisPoints,
    }
  } catch (error) {
    if (error instanceof RangeError)
      throw new Problem('FEED_UNREADABLE', { detail: `The feed's house cannot be read: ${error.message}.` })
    throw error
  }
}

export function readScreens(feed: Row, skipped: SkippedRow[]): FeedScreen[] {
  const seen = new Set<string>()
  return readRows(feed, 'Venues', 'Venue_Code', skipped, (row, code) => {
    refuseTwice(seen, code)
    const capacity = wholeOf(row, 'Venue_Normal_Capacity')
    if (capacity < 1 || capacity > LAYOUT_SEATS_MAX) throw new RowFault(`Venue_Normal_Capacity is ${capacity}`)
    // The house writes its seating rule into a comment for the cashier.
    const singleSeatsRefused = /not leave single seats/i.test(String(row.Venue_Comment ?? ''))
    return { code, name: cleanTitle(textOf(row, 'Venue_Name')), capacity, singleSeatsRefused }
  })
}

export function readMovies(feed: Row, timeZone: string, skipped: SkippedRow[]): FeedMovie[] {
  const ratings = new Set(readRows(feed, 'Ratings', 'Rating_Code', skipped, (_row, code) => code))
  const seen = new Set<string>()
  return readRows(feed, 'Movies', 'Movie_Code', skipped, (row, code) => {
    refuseTwice(seen, code)
    const title = cleanTitle(textOf(row, 'Movie_Name'))
    if (title === '') throw new RowFault('Movie_Name is nothing but markup')
    const minutes = wholeOf(row, 'Movie_Length')
    if (minutes < 1 || minutes > 1000) throw new RowFault(`Movie_Length is ${minutes}`)
    const certificate = textOf(row, 'Movie_Rating_Code')
    if (!ratings.has(certificate)) throw new RowFault(`Movie_Rating_Code ${certificate} is not among the Ratings`)
    const release = readFeedTime(textOf(row, 'Movie_Release_Date'), timeZone)
    return { code, title, year: release === null ? null : Number(release.slice(0, 4)), minutes, certificate }
  })
}

export function readPriceLists(feed: Row, currency: string, skipped: SkippedRow[]): FeedPriceList[] {
  const prices = readRows(feed, 'Price_List', 'Price_Ticket_Code', skipped, (row, ticket) => ({
    ticket,
    group: textOf(row, 'Price_PriceGroup_Code'),
    valid: flagOf(row, 'Price_Valid'),
    amountMinor: parseMinor(decimalOf(row, 'Price_Price'), currency),
  }))
  return readRows(feed, 'Price_Groups', 'Price_Group_Code', skipped, (row, code) => {
    if (!flagOf(row, 'Price_Group_Enabled')) throw new RowFault('the price group is switched off')
    if (parseMinor(decimalOf(row, 'Price_Group_Fee_Per_Transaction'), currency) !== 0) {
      throw new RowFault('a fee per transaction cannot be charged')
    }
    const full = prices.filter((price) => price.group === code && price.ticket === FULL_PRICE_TICKET && price.valid)
    const [price] = full
    if (!price || full.length > 1)
      throw new RowFault(`it has ${full.length} valid prices for ${FULL_PRICE_TICKET}, not one`)
    const feeMinor = parseMinor(decimalOf(row, 'Price_Group_Fee_Per_Ticket'), currency)
    const base = {
      strategy: 'base_price',
      label: SEAT_CATEGORY.name,
      terms: { category: SEAT_CATEGORY.code, amountMinor: price.amountMinor },
    }
    const fee = { strategy: 'booking_fee', label: 'Booking fee', terms: { amountMinor: feeMinor } }
    return { code, name: cleanTitle(textOf(row, 'Price_Group_Name')), rules: feeMinor === 0 ? [base] : [base, fee] }
  })
}
