// Seating rules by table: a hall is drawn with one letter a seat, a gap in the drawing is an aisle.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bestAvailable, largestBlock } from './best-available.ts'
import { describeLayout, type Layout, type LayoutSeat, type SeatKind } from './layout.ts'
import { newSingles, refuseSingles } from './single-seats.ts'

const KINDS: Record<string, SeatKind> = { w: 'ACCESSIBLE', p: 'COMPANION', c: 'COUPLE' }

/** `.` free, `#` taken, `w` free wheelchair place, `p` its companion, `c` free sofa half, `R` free recliner; a space is an aisle. Rows from the front. */
function hall(...rows: string[]): { layout: Layout; free: boolean[] } {
  const seats: LayoutSeat[] = []
  const free: boolean[] = []
  for (const [rowIndex, row] of rows.entries()) {
    let number = 0
    for (const [x, mark] of [...row].entries()) {
      if (mark === ' ') continue
      number += 1
      const letter = 'ABCDEFGHJK'[rowIndex] ?? 'Z'
      seats.push({
        code: `${letter}${number}`,
        section: '',
        row: letter,
        number: String(number),
        x,
        y: rowIndex + 2,
        category: mark === 'R' ? 'RECLINER' : 'CLASSIC',
        kind: KINDS[mark] ?? 'NORMAL',
      })
      free.push(mark !== '#')
    }
  }
  const width = Math.max(...rows.map((row) => row.length))
  return {
    layout: describeLayout({
      screenId: 1,
      version: 1,
      width,
      height: rows.length + 1,
      focal: { x: (width - 1) / 2, y: (rows.length + 1) * (2 / 3) },
      seats,
    }),
    free,
  }
}

const codes = (layout: Layout, places: readonly number[] | null) =>
  places?.map((place) => layout.seats[place]?.code).join(' ') ?? null
const places = (layout: Layout, text: string) => text.split(' ').map((code) => layout.placeOf.get(code) ?? -1)

test('best available: side by side, near the focal point, one category, accessible places kept back', () => {
  const table: [string, string[], { quantity: number; category?: string }, string | null][] = [
    ['the middle of the best row', ['......', '......', '......'], { quantity: 2 }, 'B3 B4'],
    ['an odd party in an even row', ['......'], { quantity: 3 }, 'A1 A2 A3'],
    ['the next row when the best is taken', ['......', '######', '......'], { quantity: 2 }, 'A3 A4'],
    ['never around a taken seat', ['..#..#'], { quantity: 2 }, 'A4 A5'],
    ['not across the aisle while a side has room', ['... ...'], { quantity: 3 }, 'A1 A2 A3'],
    ['across the aisle before the party is sent away', ['..# ...', '... #..'], { quantity: 4 }, null],
    ['across the aisle when no side has room', ['... ...'], { quantity: 4 }, 'A1 A2 A3 A4'],
    ['one category only', ['..RR..'], { quantity: 3 }, null],
    ['the category that was asked for', ['......', 'RRRR..'], { quantity: 2, category: 'RECLINER' }, 'B3 B4'],
    ['wheelchair places only when nothing else is left', ['wp..', '####'], { quantity: 2 }, 'A3 A4'],
    ['then they are sold', ['wp##', '####'], { quantity: 2 }, 'A1 A2'],
    ['a sofa is never split', ['cccc'], { quantity: 1 }, null],
    ['whole sofas only', ['cc#ccc', '######'], { quantity: 2 }, 'A1 A2'],
    ['rather a little aside than one seat alone', ['.....'], { quantity: 2 }, 'A1 A2'],
    ['nothing free', ['####'], { quantity: 1 }, null],
  ]
  for (const [name, rows, wish, expected] of table) {
    const { layout, free } = hall(...rows)
    assert.equal(codes(layout, bestAvailable(layout, free, wish)), expected, name)
  }
})

test('neighbours come from the position: odd and even numbers, from right to left', () => {
  const row = ['7', '5', '3', '1', '2', '4', '6', '8'].map(
    (number, x): LayoutSeat => ({
      code: `A${number}`,
      section: '',
      row: 'A',
      number,
      x,
      y: 2,
      category: 'CLASSIC',
      kind: 'NORMAL',
    }),
  )
  const layout = describeLayout({ screenId: 1, version: 1, width: 7, height: 2, focal: { x: 3.5, y: 2 }, seats: row })
  assert.equal(
    codes(
      layout,
      bestAvailable(
        layout,
        row.map(() => true),
        { quantity: 2 },
      ),
    ),
    'A1 A2',
  )
})

test('losers of a race are spread: each rank is another block, beyond the last the last', () => {
  const { layout, free } = hall('......')
  const chosen = [0, 1, 2, 3, 4, 99].map((rank) => codes(layout, bestAvailable(layout, free, { quantity: 2 }, rank)))
  assert.equal(new Set(chosen.slice(0, 5)).size, 5)
  assert.equal(chosen[5], chosen[4])
})

test('the largest block is counted in one category, across an aisle', () => {
  const { layout, free } = hall('..#.. ..', '.RRR.')
  assert.equal(largestBlock(layout, free), 4)
  assert.equal(largestBlock(layout, free, 'RECLINER'), 3)
})

test('B102: only gaps newly made count, the rule gives way when there is no other way, and the shift is offered', () => {
  const table: [string, string[], string, string | null][] = [
    ['row of 6: 2-3 leaves 1 alone', ['......'], 'A2 A3', 'A1 A2'],
    ['row of 6: 1-2 leaves four', ['......'], 'A1 A2', null],
    ['row of 6: 5-6 leaves four', ['......'], 'A5 A6', null],
    ['row of 6: 3-4 leaves two pairs', ['......'], 'A3 A4', null],
    ['row of 6: 4-5 leaves 6 alone', ['......'], 'A4 A5', 'A3 A4'],
    ['a gap that was there is not the customer’s doing', ['.#....', '######'], 'A3 A4', null],
    ['the last three free seats, choose two', ['...###'], 'A1 A2', null],
    ['three free seats here, but another row has room', ['...###', '....##'], 'A1 A2', 'B1 B2'],
    ['taking the whole of what is left', ['...###'], 'A1 A2 A3', null],
    ['closing an existing gap', ['#.#...'], 'A2', null],
    ['an aisle is an end: one seat beside it is alone', ['.... ....'], 'A2 A3', 'A1 A2'],
    ['a wheelchair place is no gap', ['w.....'], 'A2 A3', null],
    ['one seat in the middle of three', ['...'], 'A2', 'A1'],
    ['single seats apart: each makes its gap', ['....'], 'A1 A3', 'A3 A4'],
    ['another category is no way out', ['...RRRR'], 'A1 A2', null],
  ]
  for (const [name, rows, chosen, expected] of table) {
    const { layout, free } = hall(...rows)
    const refusal = refuseSingles(layout, free, places(layout, chosen))
    const instead =
      refusal &&
      codes(
        layout,
        refusal.instead.toSorted((a, b) => a - b),
      )
    assert.equal(instead, expected, name)
  }
})

test('any hall, any choice: what is offered instead is free, as large, leaves no more alone, and is accepted when asked for', () => {
  const row = fc
    .string({ unit: fc.constantFrom('.', '.', '.', '#', ' ', 'w'), minLength: 3, maxLength: 14 })
    .filter((text) => /[.#w]/.test(text))
  const property = fc.property(
    fc.array(row, { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat(60), { minLength: 1, maxLength: 5 }),
    (rows, picks) => {
      const { layout, free } = hall(...rows)
      const open = layout.seats.map((_, place) => place).filter((place) => free[place])
      if (open.length === 0) return
      const chosen = [...new Set(picks.map((pick) => open[pick % open.length] ?? 0))]
      const refusal = refuseSingles(layout, free, chosen)
      if (!refusal) return
      assert.equal(new Set(refusal.instead).size, chosen.length)
      assert.ok(refusal.instead.every((place) => free[place]))
      assert.ok(newSingles(layout, free, new Set(refusal.instead)).length <= refusal.alone.length)
      const again = refuseSingles(layout, free, refusal.instead)
      assert.ok(again === null || again.instead !== refusal.instead)
    },
  )
  fc.assert(property, { numRuns: 2000 })
})

test('any hall: the best block is free, side by side in one row, of one category, and missing only when none exists', () => {
  const row = fc.string({ unit: fc.constantFrom('.', '.', '.', '#', 'R'), minLength: 1, maxLength: 12 })
  const property = fc.property(
    fc.array(row, { minLength: 1, maxLength: 5 }),
    fc.integer({ min: 1, max: 8 }),
    fc.nat(50),
    (rows, quantity, rank) => {
      const { layout, free } = hall(...rows)
      const block = bestAvailable(layout, free, { quantity }, rank)
      assert.equal(block !== null, largestBlock(layout, free) >= quantity)
      if (!block) return
      const seats = block.map((place) => layout.seats[place])
      assert.equal(new Set(seats.map((seat) => `${seat?.row} ${seat?.category}`)).size, 1)
      assert.ok(block.every((place, index) => free[place] && (index === 0 || place === (block[index - 1] ?? -2) + 1)))
    },
  )
  fc.assert(property, { numRuns: 1000 })
})
