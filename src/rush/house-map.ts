// The house from above, each seat in the colour of the moment it was sold: strongest what went first.
import { escapeHtml } from '#core/page.ts'
import { round, svg } from './charts.ts'
import type { SeatMap } from './contract.ts'
import type { History } from './history.ts'

export type SoldStep = { name: string; tone: number; seats: number }

const WIDTH = 960
const MARGIN = 16
const STEPS = 6

/** `soldAt`: seat code -> second after the opening at which its sale was seen, null where only the end shows it. */
export function secondsOfSale({ holds, bookings }: History, openingMs: number): Map<string, number | null> {
  const holdOf = new Map(holds.map((hold) => [hold.holdId, hold]))
  const soldAt = new Map<string, number | null>()
  for (const { status, holdId, seats } of bookings) {
    if (status !== 'CONFIRMED') continue
    const confirmedMs = holdOf.get(holdId)?.confirmedMs ?? null
    for (const seat of seats)
      soldAt.set(seat, confirmedMs === null ? null : Math.max(0, Math.floor((confirmedMs - openingMs) / 1000)))
  }
  return soldAt
}

/** The picture, and the steps of its colours with how many seats fell into each. */
export function houseMap(
  seats: SeatMap['seats'],
  soldAt: Map<string, number | null>,
): { picture: string; steps: SoldStep[] } {
  const last = Math.max(STEPS - 1, ...[...soldAt.values()].map((second) => second ?? 0))
  const width = Math.ceil((last + 1) / STEPS)
  const steps: SoldStep[] = Array.from({ length: STEPS }, (_, step) => ({
    ...{ name: `sold from ${step * width} s to ${(step + 1) * width - 1} s`, tone: step, seats: 0 },
  }))
  const unsold = { name: 'not sold in this rush', tone: STEPS, seats: 0 }
  const place = placing(seats)
  const drawn = seats.map((seat) => {
    const second = soldAt.get(seat.code)
    const step =
      second === undefined ? unsold : (steps[Math.min(STEPS - 1, Math.floor((second ?? last) / width))] ?? unsold)
    step.seats++
    const said = second === undefined ? 'not sold' : second === null ? 'sold' : `sold after ${second} s`
    return `<circle class="seat${step.tone}" cx="${place.x(seat.x)}" cy="${place.y(seat.y)}" r="${place.radius}"><title>${escapeHtml(seat.code)}: ${said}</title></circle>`
  })
  const stage = `<rect class="stage" x="${WIDTH * 0.3}" y="2" width="${WIDTH * 0.4}" height="10" rx="5"/>`
  const description = `${seats.length} seats, the stage at the top. ${[...steps, unsold].map(({ name, seats: n }) => `${n} ${name}`).join(', ')}.`
  return {
    picture: svg({ title: 'The house', description, height: place.height }, [stage, ...drawn], WIDTH),
    steps: [...steps, unsold],
  }
}

function placing(seats: SeatMap['seats']) {
  const xs = seats.map(({ x }) => x)
  const ys = seats.map(({ y }) => y)
  const [left, right] = [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b))]
  const [front, back] = [ys.reduce((a, b) => Math.min(a, b)), ys.reduce((a, b) => Math.max(a, b))]
  const unit = (WIDTH - 2 * MARGIN) / Math.max(1, right - left)
  return {
    x: (x: number) => round(MARGIN + (x - left) * unit),
    y: (y: number) => round(2 * MARGIN + (y - front) * unit),
    radius: round(Math.min(14, unit * 0.42)),
    height: Math.ceil(3 * MARGIN + (back - front) * unit),
  }
}
