// Three invented houses in three time zones and currencies, with halls that differ: curved rows, a balcony, recliners, sofas for two, wheelchair places.
import type { PriceRule } from '#pricing/price-list.ts'
import type { LayoutSeat } from '../layout.ts'
import { type RowPattern, seatsOfPattern } from '../row-pattern.ts'

export type DemoScreen = {
  name: string
  seats: LayoutSeat[]
  /** Wall-clock starts of every programme day; before the day's start they fall on the calendar day after. */
  starts: string[]
  format: '2D' | '3D' | 'IMAX'
  singleSeatsRefused?: boolean
}

export type DemoHouse = {
  code: string
  name: string
  address: string
  city: string
  country: string
  timeZone: string
  currency: string
  taxBasisPoints: number
  categories: { code: string; name: string }[]
  rules: PriceRule[]
  screens: DemoScreen[]
}

const base = (category: string, label: string, amountMinor: number): PriceRule => ({
  strategy: 'base_price',
  label,
  terms: { category, amountMinor },
})
const weekend = (terms: { amountMinor: number } | { basisPoints: number }): PriceRule => ({
  strategy: 'day_of_week',
  label: 'Weekend',
  terms: { days: [6, 7], ...terms },
})
const matinee = (until: string, terms: { amountMinor: number } | { basisPoints: number }): PriceRule => ({
  strategy: 'time_of_day',
  label: 'Matinée',
  terms: { from: '06:00', until, ...terms },
})
const format = (name: string, amountMinor: number): PriceRule => ({
  strategy: 'format_surcharge',
  label: name,
  terms: { format: name, amountMinor },
})

const wheelchairs = (row: string, last: number): RowPattern['kindOfSeat'] => ({
  [`${row}1`]: 'ACCESSIBLE',
  [`${row}2`]: 'COMPANION',
  [`${row}${last - 1}`]: 'COMPANION',
  [`${row}${last}`]: 'ACCESSIBLE',
})

const HANOI: DemoHouse = {
  code: 'demo:hanoi',
  name: 'Rạp Hồ Gươm',
  address: '12 Phố Đinh Lễ, Hoàn Kiếm',
  city: 'Hanoi',
  country: 'VN',
  timeZone: 'Asia/Ho_Chi_Minh',
  currency: 'VND',
  taxBasisPoints: 500,
  categories: [
    { code: 'CLASSIC', name: 'Classic' },
    { code: 'VIP', name: 'VIP' },
    { code: 'COUPLE', name: 'Sofa for two' },
  ],
  rules: [
    base('CLASSIC', 'Classic', 75_000),
    base('VIP', 'VIP', 95_000),
    base('COUPLE', 'Sofa for two', 110_000),
    weekend({ amountMinor: 15_000 }),
    matinee('12:00', { amountMinor: -20_000 }),
    format('3D', 30_000),
  ],
  screens: [
    {
      name: 'Phòng 1',
      // Row K at the back is sofas.
      seats: seatsOfPattern({
        rows: 10,
        seatsPerRow: [12, 14, 14, 16, 16, 16, 16, 16, 16, 14],
        category: 'CLASSIC',
        categoryOfRow: { E: 'VIP', F: 'VIP', G: 'VIP', H: 'VIP', K: 'COUPLE' },
        kindOfRow: { K: 'COUPLE' },
        kindOfSeat: wheelchairs('A', 12) ?? {},
        aislesAfter: [8],
        bend: 1.2,
      }),
      starts: ['10:00', '13:30', '17:00', '20:30'],
      format: '2D',
    },
    {
      name: 'Phòng 2',
      seats: seatsOfPattern({
        rows: 8,
        seatsPerRow: 12,
        category: 'CLASSIC',
        categoryOfRow: { F: 'VIP', G: 'VIP' },
        kindOfSeat: wheelchairs('A', 12) ?? {},
        bend: 0.6,
      }),
      starts: ['10:45', '14:15', '17:45', '21:15'],
      format: '3D',
    },
  ],
}

const BERLIN: DemoHouse = {
  code: 'demo:berlin',
  name: 'Lichtspiele am Kanal',
  address: 'Paul-Lincke-Ufer 21, 10999 Berlin',
  city: 'Berlin',
  country: 'DE',
  timeZone: 'Europe/Berlin',
  currency: 'EUR',
  taxBasisPoints: 700,
  categories: [
    { code: 'PARKETT', name: 'Stalls' },
    { code: 'BALKON', name: 'Balcony' },
    { code: 'RECLINER', name: 'Recliner' },
  ],
  rules: [
    base('PARKETT', 'Stalls', 1050),
    base('BALKON', 'Balcony', 1250),
    base('RECLINER', 'Recliner', 1550),
    weekend({ basisPoints: 1500 }),
    matinee('17:00', { amountMinor: -200 }),
    { strategy: 'booking_fee', label: 'Booking fee', terms: { amountMinor: 75 } },
  ],
  screens: [
    {
      name: 'Saal 1',
      // The balcony has its own row A, hence the prefix in the code.
      seats: [
        ...seatsOfPattern({
          section: 'Parkett',
          rows: 11,
          seatsPerRow: 18,
          category: 'PARKETT',
          kindOfSeat: wheelchairs('L', 18) ?? {},
          aislesAfter: [5, 13],
          bend: 0.8,
        }),
        ...seatsOfPattern({
          section: 'Balkon',
          codePrefix: 'BK-',
          rows: 4,
          seatsPerRow: 14,
          category: 'BALKON',
          firstRowAt: 16,
          aislesAfter: [7],
          bend: 1.6,
        }),
      ],
      starts: ['10:30', '14:00', '17:30', '21:00'],
      format: '2D',
    },
    // The late show stands in the evening's programme and starts on the next calendar day.
    {
      name: 'Saal 2',
      seats: seatsOfPattern({
        rows: 6,
        seatsPerRow: 8,
        category: 'RECLINER',
        kindOfSeat: { A1: 'ACCESSIBLE', A2: 'COMPANION' },
        aislesAfter: [4],
      }),
      starts: ['13:15', '17:00', '20:45', '00:35'],
      format: '2D',
      singleSeatsRefused: true,
    },
  ],
}

const TOKYO: DemoHouse = {
  code: 'demo:tokyo',
  name: 'Kagurazaka Eigakan',
  address: '3-1 Kagurazaka, Shinjuku-ku',
  city: 'Tokyo',
  country: 'JP',
  timeZone: 'Asia/Tokyo',
  currency: 'JPY',
  taxBasisPoints: 1000,
  categories: [
    { code: 'STANDARD', name: 'Standard' },
    { code: 'PREMIUM', name: 'Premium' },
  ],
  rules: [
    base('STANDARD', 'Standard', 1900),
    base('PREMIUM', 'Premium', 2900),
    { strategy: 'time_of_day', label: 'Late show', terms: { from: '20:00', until: '05:00', amountMinor: -400 } },
    format('IMAX', 700),
  ],
  screens: [
    {
      name: 'Screen 1',
      seats: seatsOfPattern({
        rows: 14,
        seatsPerRow: 22,
        category: 'STANDARD',
        categoryOfRow: { J: 'PREMIUM', K: 'PREMIUM' },
        kindOfSeat: wheelchairs('A', 22) ?? {},
        aislesAfter: [6, 16],
        bend: 1,
      }),
      starts: ['09:30', '13:00', '16:30', '20:00'],
      format: 'IMAX',
    },
    {
      name: 'Screen 2',
      seats: seatsOfPattern({ rows: 7, seatsPerRow: 10, category: 'STANDARD', kindOfSeat: wheelchairs('G', 10) ?? {} }),
      starts: ['11:00', '14:30', '18:00', '21:30'],
      format: '2D',
    },
  ],
}

export const DEMO_HOUSES: readonly DemoHouse[] = [HANOI, BERLIN, TOKYO]
