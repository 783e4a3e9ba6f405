// What the buyers saw is judged: every kind of wrong that is planted into a sound history is found, and doubt acquits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkHistory, countSoldTwice } from './check-history.ts'
import type { BookingSeen, History, HoldSeen } from './history.ts'

// Buyer 1 bought A1 and A2; buyer 2 let A3 lapse, then buyer 3 bought it; buyer 4 cancelled A4, then buyer 5 bought it.
function soundEvening(): History {
  const holds = [
    hold(1, ['A1', 'A2'], 1_000, { confirmedMs: 5_000 }),
    hold(2, ['A3'], 1_000),
    hold(3, ['A3'], 22_000, { confirmedMs: 23_000 }),
    hold(4, ['A4'], 1_000, { endedMs: 9_000, cancelled: true }),
    hold(5, ['A4'], 9_500, { confirmedMs: 11_000 }),
  ]
  const bookings = [
    booking(1, ['A1', 'A2']),
    booking(3, ['A3']),
    { ...booking(4, []), status: 'CANCELLED', cancelled: true, refundedMinor: 1_000 },
    booking(5, ['A4']),
  ]
  return { holds, bookings, doubleClicksHeldTwice: [] }
}

test('a sound evening has no findings: lapsed, cancelled and sold again', () => {
  assert.deepEqual(checkHistory(soundEvening(), new Set(['A1', 'A2', 'A3', 'A4'])), [])
})

const PLANTED: [string, string[], (history: History) => void][] = [
  [
    'a seat sold twice',
    ['SOLD_TWICE', 'HELD_WHILE_TAKEN', 'NOT_ON_THE_MAP'],
    (h) => {
      h.holds.push(hold(6, ['A2', 'A9'], 8_000))
      h.bookings.push(booking(6, ['A2', 'A9']))
    },
  ],
  ['a seat held for two at a time', ['HELD_WHILE_TAKEN'], (h) => h.holds.push(hold(6, ['A3'], 2_000))],
  [
    'a seat held after it was sold, long after the hold’s time',
    ['HELD_WHILE_TAKEN'],
    (h) => h.holds.push(hold(6, ['A1'], 900_000)),
  ],
  ['other seats sold than held', ['SEATS_DIFFER'], (h) => change(h, 1, { seats: ['A1'] })],
  ['another price than quoted', ['PRICE_DIFFERS', 'MONEY_DIFFERS'], (h) => change(h, 1, { amountMinor: 900 })],
  ['money for nothing', ['MONEY_DIFFERS'], (h) => change(h, 1, { status: 'EXPIRED' })],
  ['a sale without money', ['MONEY_DIFFERS'], (h) => change(h, 1, { capturedMinor: 0 })],
  [
    'a booking that the map does not show',
    ['NOT_ON_THE_MAP'],
    (h) => {
      h.holds.push(hold(6, ['B1'], 1_000))
      h.bookings.push(booking(6, ['B1']))
    },
  ],
  [
    'two holds of one double click',
    ['DOUBLE_CLICK_HELD_TWICE'],
    (h) => h.doubleClicksHeldTwice.push({ buyer: 1, holdIds: ['a', 'b'] }),
  ],
]

for (const [what, kinds, plant] of PLANTED) {
  test(`${what} is found`, () => {
    const history = soundEvening()
    plant(history)
    const findings = checkHistory(history, new Set(['A1', 'A2', 'A3', 'A4']))
    assert.deepEqual(new Set(findings.map(({ kind }) => kind)), new Set(kinds))
    assert.equal(countSoldTwice(findings), kinds.includes('SOLD_TWICE') ? 1 : 0)
  })
}

test('doubt acquits: a request that overlaps the other answer, one that follows the release, money still on its way', () => {
  const history = soundEvening()
  history.holds.push(hold(6, ['A3'], 990, { gotMs: 1_020 }))
  history.holds.push(hold(7, ['C1'], 1_000, { endedMs: 2_000 }), hold(8, ['C1'], 1_990, { gotMs: 2_010 }))
  history.bookings.push({ ...booking(7, ['C1']), status: 'PENDING', settled: false })
  assert.deepEqual(checkHistory(history, null), [])
})

function hold(buyer: number, seats: string[], sentMs: number, more: Partial<HoldSeen> = {}): HoldSeen {
  return {
    ...{
      buyer,
      seats,
      sentMs,
      holdId: `hold-${buyer}`,
      bookingId: `book-${buyer}`,
      amountMinor: 1_000,
      gotMs: sentMs + 10,
    },
    ...{ aliveUntilMs: sentMs + 20_000, endedMs: null, paid: true, confirmedMs: null, cancelled: false, ...more },
  }
}

function booking(buyer: number, seats: string[]): BookingSeen {
  return {
    ...{ buyer, seats, bookingId: `book-${buyer}`, holdId: `hold-${buyer}`, status: 'CONFIRMED', amountMinor: 1_000 },
    ...{ capturedMinor: 1_000, refundedMinor: 0, tickets: seats.length, settled: true, paid: true, cancelled: false },
  }
}

function change(history: History, buyer: number, to: Partial<BookingSeen>): void {
  history.bookings = history.bookings.map((one) => (one.buyer === buyer ? { ...one, ...to } : one))
}
