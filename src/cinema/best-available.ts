// The best free seats for a party: side by side by position, in one category, as near the focal point as there is, accessible places kept back.
import type { Layout, SeatKind } from './layout.ts'
import { centre, type FreeSeats, newSingles } from './single-seats.ts'

export type PartyWish = { quantity: number; category?: string | undefined }

// From what people like best to what is still better than nothing.
const CONCESSIONS: readonly { acrossAisle: boolean; kinds: readonly SeatKind[] }[] = [
  { acrossAisle: false, kinds: ['NORMAL', 'COUPLE'] },
  { acrossAisle: true, kinds: ['NORMAL', 'COUPLE'] },
  { acrossAisle: false, kinds: ['NORMAL', 'COUPLE', 'COMPANION', 'ACCESSIBLE'] },
  { acrossAisle: true, kinds: ['NORMAL', 'COUPLE', 'COMPANION', 'ACCESSIBLE'] },
]

/**
 * Places side by side, or null when there is no such block. `rank` 0 is the best; buyers who lost a race take a later one instead of all running
 * for the next best together (beyond the last: the last). Blocks that leave a single seat alone come after all that do not.
 */
export function bestAvailable(layout: Layout, free: FreeSeats, wish: PartyWish, rank = 0): number[] | null {
  for (const { acrossAisle, kinds } of CONCESSIONS) {
    const lines = acrossAisle ? layout.rows : layout.runs
    const blocks = lines.flatMap((line) => blocksOf(layout, free, line, wish, kinds))
    if (blocks.length === 0) continue
    blocks.sort((a, b) => a.singles - b.singles || a.away - b.away || (a.places[0] ?? 0) - (b.places[0] ?? 0))
    return blocks[Math.min(rank, blocks.length - 1)]?.places ?? null
  }
  return null
}

/** The most seats side by side that are free in one category, for the sentence of a refusal. */
export function largestBlock(layout: Layout, free: FreeSeats, category?: string): number {
  const counts = layout.rows.flatMap((row) => {
    let length = 0
    let last: string | undefined
    return row.map((place) => {
      const seat = layout.seats[place]
      const fits = free[place] && seat && (category === undefined || seat.category === category)
      length = !fits ? 0 : seat.category === last ? length + 1 : 1
      last = seat?.category
      return length
    })
  })
  return Math.max(0, ...counts)
}

type Block = { places: number[]; singles: number; away: number }

function blocksOf(
  layout: Layout,
  free: FreeSeats,
  line: number[],
  wish: PartyWish,
  kinds: readonly SeatKind[],
): Block[] {
  const blocks: Block[] = []
  for (let start = 0; start + wish.quantity <= line.length; start++) {
    const places = line.slice(start, start + wish.quantity)
    if (!fits(layout, free, places, wish, kinds) || splitsCouple(layout, line, start, wish.quantity)) continue
    const middle = centre(layout, places)
    blocks.push({
      places,
      singles: newSingles(layout, free, new Set(places)).length,
      away: Math.hypot(middle.x - layout.focal.x, middle.y - layout.focal.y),
    })
  }
  return blocks
}

function fits(layout: Layout, free: FreeSeats, places: number[], wish: PartyWish, kinds: readonly SeatKind[]): boolean {
  const category = wish.category ?? layout.seats[places[0] ?? 0]?.category
  return places.every((place) => {
    const seat = layout.seats[place]
    return free[place] && seat !== undefined && seat.category === category && kinds.includes(seat.kind)
  })
}

// Couple seats are sofas for two, counted off from the end of their row: a party takes whole ones.
function splitsCouple(layout: Layout, line: number[], start: number, quantity: number): boolean {
  const isCouple = (index: number) => layout.seats[line[index] ?? -1]?.kind === 'COUPLE'
  const pairBegins = (index: number) => {
    let first = index
    while (first > 0 && isCouple(first - 1)) first--
    return (index - first) % 2 === 0
  }
  const end = start + quantity
  return (
    (isCouple(start) && !pairBegins(start)) ||
    (end < line.length && isCouple(end) && isCouple(end - 1) && !pairBegins(end))
  )
}
