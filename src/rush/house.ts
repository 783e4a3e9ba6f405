// The house as a buyer sees it: where the seats are, and which of them a party would take.
import type { Chance } from './chance.ts'
import type { SeatMap } from './contract.ts'
import type { Taste } from './plan-buyer.ts'

export type Seat = { code: string; x: number; y: number; category: string }

export type House = {
  /** In layout order, which is the order of the letters of `view=status`. */
  seats: Seat[]
  /** Places side by side without an aisle between them. */
  runs: number[][]
  /** Distance of each place from where everybody wants to sit. */
  away: number[]
}

// Seats stand one unit apart.
const AISLE_MIN = 1.5
// Two thirds back, as people who choose a seat tend to.
const FAVOURITE_DEPTH = 0.6

export function houseOf(map: Pick<SeatMap, 'seats'>): House {
  const seats = map.seats.map(({ code, x, y, category }) => ({ code, x, y, category }))
  const rows = Map.groupBy(map.seats.keys(), (place) => `${map.seats[place]?.section ?? ''}/${map.seats[place]?.row}`)
  const runs = [...rows.values()].flatMap((places) => splitAtAisles(places, seats))
  const [xs, ys] = [seats.map(({ x }) => x), seats.map(({ y }) => y)]
  const middle = { x: between(xs, 0.5), y: between(ys, FAVOURITE_DEPTH) }
  return { seats, runs, away: seats.map(({ x, y }) => (x - middle.x) ** 2 + (y - middle.y) ** 2) }
}

/** Codes of `party` seats that are free by these letters, side by side if that can be had; null: not so many are free. */
export function chooseSeats(
  house: House,
  letters: string,
  wish: { party: number; taste: Taste },
  chance: Chance,
): string[] | null {
  const { party, taste } = wish
  const free = (place: number) => taste === 'stubborn' || letters[place] === 'A'
  let best: number[] | null = null
  let bestScore = Number.POSITIVE_INFINITY
  for (const run of house.runs) {
    for (let start = 0; start + party <= run.length; start++) {
      const block = run.slice(start, start + party)
      if (!block.every(free)) continue
      // Nobody sees the very same block as the best one, or each would lose to the first.
      const score =
        taste === 'anywhere' ? chance.next() : (house.away[block[party >> 1] ?? 0] ?? 0) * (0.6 + chance.next())
      if (score < bestScore) [best, bestScore] = [block, score]
    }
  }
  best ??= nearestSingles(house, letters, party)
  return best?.map((place) => house.seats[place]?.code ?? '') ?? null
}

// Late in the evening a party sits apart.
function nearestSingles(house: House, letters: string, party: number): number[] | null {
  const free = [...house.seats.keys()].filter((place) => letters[place] === 'A')
  if (free.length < party) return null
  return free.sort((a, b) => (house.away[a] ?? 0) - (house.away[b] ?? 0)).slice(0, party)
}

function splitAtAisles(places: number[], seats: Seat[]): number[][] {
  const x = (place: number) => seats[place]?.x ?? 0
  const runs: number[][] = []
  for (const place of places.toSorted((a, b) => x(a) - x(b))) {
    const last = runs.at(-1)
    const before = last?.at(-1)
    if (last && before !== undefined && x(place) - x(before) < AISLE_MIN) last.push(place)
    else runs.push([place])
  }
  return runs
}

function between(values: number[], share: number): number {
  const min = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const max = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return min + (max - min) * share
}
