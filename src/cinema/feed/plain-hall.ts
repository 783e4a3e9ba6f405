// A plain hall of a given number of seats, for houses whose feed says how many there are and not where: always the same for the same number.
import type { LayoutSeat, SeatKind } from '../layout.ts'
import { rowLetters, seatsOfPattern } from '../row-pattern.ts'

const ROW_WIDEST = 16
const ROW_NARROWEST = 10
const ROW_USUAL = 14

/** Even rows where the number allows it, else a shorter last row; two aisles; a wheelchair place with its companion at both ends of the front row. */
export function plainHall(capacity: number, category: string): LayoutSeat[] {
  const width = Math.min(capacity, rowWidth(capacity))
  const rows = Math.ceil(capacity / width)
  const seatsPerRow = Array.from({ length: rows }, (_, row) => Math.min(width, capacity - row * width))
  const side = Math.floor((width * 2) / 7)
  const front = rowLetters(1, '')[0] ?? 'A'
  const accessible: [string, SeatKind][] = [
    [`${front}1`, 'ACCESSIBLE'],
    [`${front}2`, 'COMPANION'],
    [`${front}${width - 1}`, 'COMPANION'],
    [`${front}${width}`, 'ACCESSIBLE'],
  ]
  return seatsOfPattern({
    rows,
    seatsPerRow,
    category,
    kindOfSeat: width >= ROW_NARROWEST ? Object.fromEntries(accessible) : {},
    aislesAfter: width >= ROW_NARROWEST ? [side, width - side] : [],
  })
}

function rowWidth(capacity: number): number {
  for (let width = ROW_WIDEST; width >= ROW_NARROWEST; width--) if (capacity % width === 0) return width
  return ROW_USUAL
}
