// What seats cost: the strategies one by one, and the sums of any price list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseMinor } from '#core/money.ts'
import { checkPriceList, type PriceList, ticketTypesOf } from './price-list.ts'
import type { PricedShowing } from './priced-showing.ts'
import { includedTaxMinor, quoteSeats } from './quote-seats.ts'

const FRIDAY_EVENING: PricedShowing = {
  businessDay: '2026-12-04',
  localTime: '18:45',
  format: '2D',
  daysBefore: 0,
  channel: 'WEB',
}
const classic = (amountMinor: number) => ({
  strategy: 'base_price',
  label: 'Classic',
  terms: { category: 'CLASSIC', amountMinor },
})
const list = (...rules: PriceList['rules']): PriceList => ({ currency: 'AUD', taxBasisPoints: 1000, rules })
const price = (prices: PriceList, showing: PricedShowing) =>
  quoteSeats(prices, showing, [{ code: 'A1', category: 'CLASSIC' }])

test('the real house: 13.00 and a fee of 1.10 are 14.10, of which 1.28 is tax, and each part is named', () => {
  const quote = price(
    list(classic(1300), { strategy: 'booking_fee', label: 'Booking fee', terms: { amountMinor: 110 } }),
    FRIDAY_EVENING,
  )
  assert.deepEqual(quote, {
    currency: 'AUD',
    totalMinor: 1410,
    taxBasisPoints: 1000,
    taxMinor: 128,
    lines: [
      {
        seat: 'A1',
        quantity: 1,
        category: 'CLASSIC',
        amountMinor: 1410,
        taxMinor: 128,
        parts: [
          { label: 'Classic', amountMinor: 1300 },
          { label: 'Booking fee', amountMinor: 110 },
        ],
      },
    ],
  })
})

test('B054: tax is rounded per line and summed: 13.00 contains 1.18, seven tickets of 3.33 at 19 % contain 3.71', () => {
  assert.equal(includedTaxMinor(1300, 1000), 118)
  const seats = Array.from({ length: 7 }, (_, index) => ({ code: `A${index}`, category: 'CLASSIC' }))
  const quote = quoteSeats({ ...list(classic(333)), taxBasisPoints: 1900 }, FRIDAY_EVENING, seats)
  assert.equal(quote.totalMinor, 2331)
  assert.equal(quote.taxMinor, 7 * 53)
})

test('B056: decimal prices become exact minor units, and three of them exact totals', () => {
  for (const [text, minor] of [
    ['1.15', 115],
    ['2.25', 225],
    ['4.35', 435],
    ['19.99', 1999],
    ['0.29', 29],
  ] as const) {
    assert.equal(parseMinor(text, 'AUD'), minor)
    const seats = ['A1', 'A2', 'A3'].map((code) => ({ code, category: 'CLASSIC' }))
    assert.equal(quoteSeats(list(classic(minor)), FRIDAY_EVENING, seats).totalMinor, minor * 3)
  }
  assert.throws(() => parseMinor('1.005', 'AUD'), RangeError)
})

test('the weekend costs more by the programme day, so a show at 00:35 on Saturday still has Friday’s price', () => {
  const prices = list(classic(1000), {
    strategy: 'day_of_week',
    label: 'Weekend',
    terms: { days: [6, 7], basisPoints: 2000 },
  })
  assert.equal(price(prices, { ...FRIDAY_EVENING, localTime: '00:35' }).totalMinor, 1000)
  assert.equal(price(prices, { ...FRIDAY_EVENING, businessDay: '2026-12-05', localTime: '00:35' }).totalMinor, 1200)
})

test('time of day is half-open and may run across midnight', () => {
  const late = list(classic(1000), {
    strategy: 'time_of_day',
    label: 'Late',
    terms: { from: '22:00', until: '04:00', amountMinor: -200 },
  })
  const at = (localTime: string) => price(late, { ...FRIDAY_EVENING, localTime }).totalMinor
  assert.deepEqual(['21:59', '22:00', '00:35', '03:59', '04:00'].map(at), [1000, 800, 800, 800, 1000])
})

test('a format surcharge is asked for its format only', () => {
  const prices = list(classic(1000), {
    strategy: 'format_surcharge',
    label: '3D glasses',
    terms: { format: '3D', amountMinor: 250 },
  })
  assert.equal(price(prices, { ...FRIDAY_EVENING, format: '3D' }).totalMinor, 1250)
  assert.equal(price(prices, { ...FRIDAY_EVENING, format: 'IMAX' }).totalMinor, 1000)
})

test('a reduction larger than the price ends at zero, and the part says how much was really taken off', () => {
  const quote = price(
    list(classic(500), { strategy: 'day_of_week', label: 'Gift', terms: { days: [5], amountMinor: -900 } }),
    FRIDAY_EVENING,
  )
  assert.equal(quote.totalMinor, 0)
  assert.deepEqual(quote.lines[0]?.parts.at(-1), { label: 'Gift', amountMinor: -500 })
})

test('a category without a base price is never sold, and a list that lacks one is refused', () => {
  assert.throws(
    () => quoteSeats(list(classic(1000)), FRIDAY_EVENING, [{ code: 'R1', category: 'RECLINER' }]),
    /no base price for category RECLINER/,
  )
  assert.throws(
    () => checkPriceList(list(classic(1000)), ['CLASSIC', 'RECLINER']),
    /RECLINER needs exactly one base price and has 0/,
  )
  assert.throws(
    () => checkPriceList(list(classic(1000), classic(900)), ['CLASSIC']),
    /exactly one base price and has 2/,
  )
})

test('terms that make no sense are refused with the rule’s place', () => {
  const bad = [
    { strategy: 'discount_wheel', terms: {} },
    { strategy: 'base_price', terms: { category: 'CLASSIC', amountMinor: 12.5 } },
    { strategy: 'base_price', terms: { category: 'CLASSIC', amountMinor: -1 } },
    { strategy: 'booking_fee', terms: { amountMinor: -1 } },
    { strategy: 'booking_fee', terms: { amountMinor: 1, note: 'x' } },
    { strategy: 'day_of_week', terms: { days: [0], amountMinor: 1 } },
    { strategy: 'day_of_week', terms: { days: [6], amountMinor: 1, basisPoints: 1 } },
    { strategy: 'time_of_day', terms: { from: '24:00', until: '05:00', amountMinor: 1 } },
    { strategy: 'format_surcharge', terms: { format: '', amountMinor: 1 } },
    { strategy: 'toString', terms: {} },
    { strategy: 'ticket_type', terms: { ticketType: 'child', amountMinor: 1 } },
    { strategy: 'holiday', terms: { dates: ['2026-02-30'], amountMinor: 1 } },
    { strategy: 'holiday', terms: { dates: [], amountMinor: 1 } },
    { strategy: 'early_bird', terms: { daysBefore: 0, amountMinor: 1 } },
    { strategy: 'channel', terms: { channel: 'PIGEON', amountMinor: 1 } },
    { strategy: 'order_fee', terms: { amountMinor: -1 } },
    { strategy: 'added_tax', terms: { basisPoints: 10_001 } },
  ]
  for (const rule of bad)
    assert.throws(() => checkPriceList(list({ label: 'bad', ...rule }), []), /rule 1 \(bad\)/, JSON.stringify(rule))
})

test('children pay less, and a type nobody named in the list costs what an adult does', () => {
  const prices = list(classic(1500), {
    strategy: 'ticket_type',
    label: 'Child',
    terms: { ticketType: 'CHILD', basisPoints: -3333 },
  })
  const quote = quoteSeats(prices, FRIDAY_EVENING, [
    { code: 'A1', category: 'CLASSIC' },
    { code: 'A2', category: 'CLASSIC', ticketType: 'CHILD' },
  ])
  assert.deepEqual(
    quote.lines.map(({ amountMinor, ticketType }) => [amountMinor, ticketType]),
    [
      [1500, undefined],
      [1000, 'CHILD'],
    ],
  )
  assert.deepEqual(ticketTypesOf(prices), ['ADULT', 'CHILD'])
})

test('holidays, early birds and channels are asked of the showing', () => {
  const prices = list(
    classic(1000),
    { strategy: 'holiday', label: 'Christmas', terms: { dates: ['2026-12-25'], amountMinor: 300 } },
    { strategy: 'early_bird', label: 'Early', terms: { daysBefore: 7, basisPoints: -1000 } },
    { strategy: 'channel', label: 'Counter', terms: { channel: 'BOX_OFFICE', amountMinor: -50 } },
  )
  const at = (showing: Partial<PricedShowing>) => price(prices, { ...FRIDAY_EVENING, ...showing }).totalMinor
  assert.equal(at({}), 1000)
  assert.equal(at({ businessDay: '2026-12-25' }), 1300)
  assert.deepEqual(
    [6, 7, 30].map((daysBefore) => at({ daysBefore })),
    [1000, 900, 900],
  )
  assert.equal(at({ channel: 'BOX_OFFICE' }), 950)
})

test('a fee of the order is paid once and shared to the cent; tax is added ticket by ticket on what stands above it', () => {
  const prices: PriceList = {
    currency: 'USD',
    taxBasisPoints: 0,
    rules: [
      classic(1000),
      { strategy: 'order_fee', label: 'Order fee', terms: { amountMinor: 100 } },
      { strategy: 'added_tax', label: 'Sales tax', terms: { basisPoints: 825 } },
    ],
  }
  const quote = quoteSeats(
    prices,
    FRIDAY_EVENING,
    ['A1', 'A2', 'A3'].map((code) => ({ code, category: 'CLASSIC' })),
  )
  assert.deepEqual(
    quote.lines.map(({ parts }) => parts.map(({ amountMinor }) => amountMinor)),
    [
      [1000, 34, 85],
      [1000, 33, 85],
      [1000, 33, 85],
    ],
  )
  assert.deepEqual([quote.totalMinor, quote.taxMinor, quote.taxBasisPoints], [3355, 255, 825])
  assert.throws(
    () => checkPriceList({ ...prices, taxBasisPoints: 825 }, ['CLASSIC']),
    /added tax is one rule, the last/,
  )
  const first = { ...prices, rules: prices.rules.toReversed() }
  assert.throws(() => checkPriceList(first, ['CLASSIC']), /added tax is one rule, the last/)
})

test('any price list: integers only, parts sum to lines, lines to the total, nothing below zero, the order of seats does not matter', () => {
  const change = fc.oneof(
    fc.record({ amountMinor: fc.integer({ min: -5000, max: 5000 }) }),
    fc.record({ basisPoints: fc.integer({ min: -12_000, max: 12_000 }) }),
  )
  const rule = fc.oneof(
    fc
      .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), change)
      .map(([days, by]) => ({ strategy: 'day_of_week', label: 'day', terms: { days, ...by } })),
    change.map((by) => ({ strategy: 'time_of_day', label: 'time', terms: { from: '17:00', until: '02:00', ...by } })),
    change.map((by) => ({ strategy: 'format_surcharge', label: 'format', terms: { format: '3D', ...by } })),
    fc.nat(500).map((amountMinor) => ({ strategy: 'booking_fee', label: 'fee', terms: { amountMinor } })),
    fc.nat(500).map((amountMinor) => ({ strategy: 'order_fee', label: 'order', terms: { amountMinor } })),
    change.map((by) => ({ strategy: 'ticket_type', label: 'child', terms: { ticketType: 'CHILD', ...by } })),
    fc
      .tuple(fc.integer({ min: 1, max: 30 }), change)
      .map(([daysBefore, by]) => ({ strategy: 'early_bird', label: 'early', terms: { daysBefore, ...by } })),
  )
  const showing = fc.record({
    businessDay: fc.integer({ min: 1, max: 28 }).map((day) => `2026-02-${String(day).padStart(2, '0')}`),
    localTime: fc.constantFrom('00:35', '11:00', '17:00', '23:59'),
    format: fc.constantFrom('2D', '3D', 'IMAX'),
    daysBefore: fc.nat(30),
    channel: fc.constantFrom('WEB', 'PARTNER', 'BOX_OFFICE'),
  })
  const seat = fc.record({
    category: fc.constantFrom('CLASSIC', 'RECLINER'),
    ticketType: fc.constantFrom('ADULT', 'CHILD'),
  })
  const seats = fc.array(seat, { minLength: 1, maxLength: 8 })
  const property = fc.property(
    fc.array(rule, { maxLength: 6 }),
    fc.nat(1_000_000),
    fc.nat(1_000_000),
    fc.nat(3000),
    fc.boolean(),
    showing,
    seats,
    (rules, classicMinor, reclinerMinor, basisPoints, taxIsAdded, at, tickets) => {
      const recliner = {
        strategy: 'base_price',
        label: 'Recliner',
        terms: { category: 'RECLINER', amountMinor: reclinerMinor },
      }
      const tax = taxIsAdded ? [{ strategy: 'added_tax', label: 'tax', terms: { basisPoints } }] : []
      const prices: PriceList = {
        currency: 'EUR',
        taxBasisPoints: taxIsAdded ? 0 : basisPoints,
        rules: [classic(classicMinor), recliner, ...rules, ...tax],
      }
      checkPriceList(prices, ['CLASSIC', 'RECLINER'])
      const asked = tickets.map((ticket, index) => ({ code: `S${index}`, ...ticket }))
      const quote = quoteSeats(prices, at, asked)
      for (const line of quote.lines) {
        assert.ok(Number.isSafeInteger(line.amountMinor) && line.amountMinor >= 0)
        assert.equal(
          line.parts.reduce((sum, part) => sum + part.amountMinor, 0),
          line.amountMinor,
        )
        assert.ok(line.parts.every((part) => Number.isSafeInteger(part.amountMinor)))
        assert.ok((line.taxMinor ?? -1) >= 0 && (line.taxMinor ?? 0) <= line.amountMinor)
      }
      assert.equal(
        quote.lines.reduce((sum, line) => sum + line.amountMinor, 0),
        quote.totalMinor,
      )
      assert.equal(quoteSeats(prices, at, asked.toReversed()).totalMinor, quote.totalMinor)
    },
  )
  // fast-check prints seed and path of a failing case, and replays by them.
  fc.assert(property, { numRuns: 1_000 })
})
