// A screen's seats as they stand in the room, and what follows from that: who sits beside whom. Neighbours come from the position, never from
// the number printed on the chair: rows count odd and even, skip I and O, or run from right to left.

export type SeatKind = 'NORMAL' | 'ACCESSIBLE' | 'COMPANION' | 'COUPLE'

export type LayoutSeat = {
  code: string
  section: string
  row: string
  number: string
  x: number
  y: number
  category: string
  kind: SeatKind
}

export type Layout = {
  screenId: number
  version: number
  width: number
  height: number
  focal: { x: number; y: number }
  /** In layout order; everything else refers to a seat by its place in this list. */
  seats: LayoutSeat[]
  placeOf: ReadonlyMap<string, number>
  /** Categories that occur, in the order of the seats. */
  categories: string[]
  /** Seats side by side with no aisle between, from one end to the other. */
  runs: number[][]
  /** Whole rows in the same order: the runs of a row with its aisles in between. */
  rows: number[][]
  /** Place in layout order -> place in the order of codes as bytes, in which the database lists statuses. */
  byCode: number[]
}

export type StoredLayout = Pick<Layout, 'screenId' | 'version' | 'width' | 'height' | 'focal' | 'seats'>

// A step wider than this many usual steps is an aisle.
const AISLE_STEPS = 1.5

export function describeLayout(stored: StoredLayout): Layout {
  const { seats } = stored
  const rows = rowsOf(seats)
  const usual = median(rows.flatMap((row) => steps(seats, row)))
  const runs = rows.flatMap((row) => splitAtAisles(seats, row, usual * AISLE_STEPS))
  const sorted = seats
    .map((_, place) => place)
    .sort((a, b) => Buffer.compare(Buffer.from(codeAt(seats, a)), Buffer.from(codeAt(seats, b))))
  const byCode = new Array<number>(seats.length)
  for (const [order, place] of sorted.entries()) byCode[place] = order
  return {
    ...stored,
    placeOf: new Map(seats.map((seat, place) => [seat.code, place])),
    categories: [...new Set(seats.map((seat) => seat.category))],
    runs,
    rows,
    byCode,
  }
}

export function distanceToFocal(layout: Layout, place: number): number {
  const seat = layout.seats[place]
  return seat ? Math.hypot(seat.x - layout.focal.x, seat.y - layout.focal.y) : Number.POSITIVE_INFINITY
}

function rowsOf(seats: LayoutSeat[]): number[][] {
  const rows = new Map<string, number[]>()
  for (const [place, seat] of seats.entries()) {
    const key = JSON.stringify([seat.section, seat.row])
    const row = rows.get(key)
    if (row) row.push(place)
    else rows.set(key, [place])
  }
  return [...rows.values()].map((row) => alongTheRow(seats, row))
}

// Side blocks of an arena run towards the stage: their rows are ordered along the longer direction.
function alongTheRow(seats: LayoutSeat[], row: number[]): number[] {
  const xs = row.map((place) => seats[place]?.x ?? 0)
  const ys = row.map((place) => seats[place]?.y ?? 0)
  const wide = Math.max(...xs) - Math.min(...xs) >= Math.max(...ys) - Math.min(...ys)
  const along = (place: number) => (wide ? seats[place]?.x : seats[place]?.y) ?? 0
  return row.toSorted((a, b) => along(a) - along(b) || a - b)
}

function steps(seats: LayoutSeat[], row: number[]): number[] {
  return row.slice(1).map((place, index) => distance(seats[row[index] ?? place], seats[place]))
}

function splitAtAisles(seats: LayoutSeat[], row: number[], aisle: number): number[][] {
  const runs: number[][] = []
  for (const [index, place] of row.entries()) {
    const before = row[index - 1]
    if (before === undefined || distance(seats[before], seats[place]) > aisle) runs.push([place])
    else runs.at(-1)?.push(place)
  }
  return runs
}

function distance(a: LayoutSeat | undefined, b: LayoutSeat | undefined): number {
  return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 1
}

function codeAt(seats: LayoutSeat[], place: number): string {
  return seats[place]?.code ?? ''
}
