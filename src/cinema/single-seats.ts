// No single seat left alone: which choices make a new gap of one, and what could be chosen instead. Only the choice's own doing counts, and the
// rule gives way when there is no other way (B102).
import type { Layout } from './layout.ts'

/** Both indexed by a seat's place in the layout. */
export type FreeSeats = readonly boolean[]

/** Places that this choice would leave as a gap of one where there was none before. Wheelchair and companion places are no gap. */
export function newSingles(layout: Layout, free: FreeSeats, chosen: ReadonlySet<number>): number[] {
  const touched = layout.runs.filter((run) => run.some((place) => chosen.has(place)))
  return touched.flatMap((run) =>
    run.filter((place, index) => {
      if (!free[place] || chosen.has(place) || !mayBeGap(layout, place)) return false
      const sides = [run[index - 1], run[index + 1]].filter((side) => side !== undefined && free[side])
      return sides.length > 0 && sides.every((side) => side !== undefined && chosen.has(side))
    }),
  )
}

/**
 * Null when the choice may stand: it leaves no new single, or no choice of that size and category in the house would leave none. Otherwise the seats
 * left alone and the nearest choice that is allowed.
 */
export function refuseSingles(
  layout: Layout,
  free: FreeSeats,
  chosen: number[],
): { alone: number[]; instead: number[] } | null {
  const alone = newSingles(layout, free, new Set(chosen))
  if (alone.length === 0) return null
  let instead = chosen
  for (const group of groupsOf(layout, chosen)) {
    const causes = newSingles(layout, free, new Set(instead)).some((single) => isBeside(layout, single, group))
    if (!causes) continue
    const others = instead.filter((place) => !group.includes(place))
    const moved = nearestCleanBlock(layout, free, group, others)
    if (moved) instead = [...others, ...moved]
  }
  // Moving what can be moved must really help; where a part cannot be moved, what it leaves alone is not the customer's doing.
  return instead === chosen ? null : { alone, instead }
}

function nearestCleanBlock(layout: Layout, free: FreeSeats, group: number[], others: number[]): number[] | null {
  const category = layout.seats[group[0] ?? 0]?.category
  const taken = new Set(others)
  const before = new Set(newSingles(layout, free, taken))
  let best: { block: number[]; away: number } | null = null
  for (const run of layout.runs) {
    for (let start = 0; start + group.length <= run.length; start++) {
      const block = run.slice(start, start + group.length)
      const usable = block.every((place) => {
        const seat = layout.seats[place]
        return free[place] && !taken.has(place) && seat?.category === category && mayBeGap(layout, place)
      })
      if (!usable) continue
      const away = distance(layout, block, group)
      if (best && best.away <= away) continue
      if (newSingles(layout, free, new Set([...others, ...block])).every((single) => before.has(single)))
        best = { block, away }
    }
  }
  return best?.block ?? null
}

// Seats of a choice that sit side by side.
function groupsOf(layout: Layout, chosen: number[]): number[][] {
  const wanted = new Set(chosen)
  return layout.runs.flatMap((run) => {
    const groups: number[][] = []
    for (const [index, place] of run.entries()) {
      if (!wanted.has(place)) continue
      if (index > 0 && wanted.has(run[index - 1] ?? -1)) groups.at(-1)?.push(place)
      else groups.push([place])
    }
    return groups
  })
}

function isBeside(layout: Layout, single: number, group: number[]): boolean {
  const run = layout.runs.find((places) => places.includes(single)) ?? []
  const at = run.indexOf(single)
  return group.includes(run[at - 1] ?? -1) || group.includes(run[at + 1] ?? -1)
}

function distance(layout: Layout, a: number[], b: number[]): number {
  const [from, to] = [centre(layout, a), centre(layout, b)]
  return Math.hypot(from.x - to.x, from.y - to.y)
}

export function centre(layout: Layout, places: number[]): { x: number; y: number } {
  const sum = places.reduce(
    (total, place) => ({ x: total.x + (layout.seats[place]?.x ?? 0), y: total.y + (layout.seats[place]?.y ?? 0) }),
    { x: 0, y: 0 },
  )
  return { x: sum.x / places.length, y: sum.y / places.length }
}

function mayBeGap(layout: Layout, place: number): boolean {
  const kind = layout.seats[place]?.kind
  return kind === 'NORMAL' || kind === 'COUPLE'
}
