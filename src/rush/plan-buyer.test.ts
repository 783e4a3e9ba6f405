// The crowd hangs on the seed alone, comes in a burst, and has every kind of buyer in it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chanceOf } from './chance.ts'
import { chooseSeats, houseOf } from './house.ts'
import { planBuyer } from './plan-buyer.ts'

const BUYERS = 5_000
const crowd = (seed: number) => Array.from({ length: BUYERS }, (_, buyer) => planBuyer(seed, buyer, 30))

test('the same seed is the same crowd, in any order of asking; another seed is another', () => {
  assert.deepEqual(crowd(7), crowd(7))
  assert.deepEqual(planBuyer(7, 4_711, 30), crowd(7)[4_711])
  assert.notDeepEqual(crowd(7), crowd(8))
})

test('half of them come in the first quarter of the time, all of them within it, from addresses of their own', () => {
  const arrivals = crowd(7).map(({ arrivesMs }) => arrivesMs)
  const early = arrivals.filter((ms) => ms < 7_500).length
  assert.ok(early > BUYERS * 0.45 && early < BUYERS * 0.65, `${early} of ${BUYERS}`)
  assert.ok(arrivals.every((ms) => ms >= 0 && ms < 30_000))
  assert.equal(new Set(crowd(7).map(({ address }) => address)).size, BUYERS)
})

test('every way to behave is in a crowd', () => {
  const seen = (of: 'ending' | 'taste' | 'doubleClick' | 'fault' | 'party') => new Set(crowd(7).map((plan) => plan[of]))
  assert.deepEqual(
    [seen('ending').size, seen('taste').size, seen('doubleClick').size, seen('fault').size, seen('party').size],
    [8, 4, 3, 3, 7],
  )
})

test('seats are free ones, as many as the party, side by side while there are such; null when there are too few', () => {
  const seats = ['A', 'B', 'C'].flatMap((row, y) =>
    Array.from({ length: 10 }, (_, n) => ({
      code: `${row}${n + 1}`,
      row,
      x: n < 5 ? n : n + 1,
      y,
      category: 'STANDARD',
      status: 'AVAILABLE',
    })),
  )
  const house = houseOf({ seats })
  for (let seed = 1; seed <= 300; seed++) {
    const chance = chanceOf(seed, 1)
    const share = chance.next()
    const letters = seats.map(() => (chance.next() < share ? 'A' : 'H')).join('')
    const party = chance.whole(1, 6)
    const taste = chance.choose({ centre: 1, anywhere: 1 })
    const chosen = chooseSeats(house, letters, { party, taste }, chance)
    const free = seats.filter((_, place) => letters[place] === 'A').map(({ code }) => code)
    if (chosen === null) assert.ok(free.length < party, `seed ${seed}`)
    else {
      assert.deepEqual(
        [chosen.length, new Set(chosen).size, chosen.every((code) => free.includes(code))],
        [party, party, true],
        `seed ${seed}`,
      )
      const together = house.runs.some((run) =>
        run.some(
          (_, at) => run.slice(at, at + party).every((place) => letters[place] === 'A') && at + party <= run.length,
        ),
      )
      const places = chosen.map((code) => seats.findIndex((seat) => seat.code === code)).sort((a, b) => a - b)
      const sideBySide =
        house.runs.some((run) => places.every((place) => run.includes(place))) &&
        (places.at(-1) ?? 0) - (places[0] ?? 0) === party - 1
      assert.equal(sideBySide, together, `seed ${seed}: ${chosen.join(' ')} of ${letters}`)
    }
  }
})

test('a stubborn buyer wants the middle, whatever the map says', () => {
  const seats = Array.from({ length: 9 }, (_, n) => ({
    code: `A${n + 1}`,
    row: 'A',
    x: n,
    y: 0,
    category: 'STANDARD',
    status: 'BOOKED',
  }))
  const house = houseOf({ seats })
  assert.deepEqual(chooseSeats(house, 'B'.repeat(9), { party: 1, taste: 'stubborn' }, chanceOf(1, 1)), ['A5'])
  assert.equal(chooseSeats(house, 'B'.repeat(9), { party: 1, taste: 'centre' }, chanceOf(1, 1)), null)
})
