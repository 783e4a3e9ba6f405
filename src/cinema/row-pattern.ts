// Builds the seats of a plain hall from a pattern: so many rows of so many seats, with aisles, from the screen backwards.
import type { LayoutSeat, SeatKind } from './layout.ts'

export type RowPattern = {
  section?: string
  /** Put before row and number in the code, so that a balcony can have an A1 too. */
  codePrefix?: string
  rows: number
  /** Seats of every row, or of each row in turn. */
  seatsPerRow: number | number[]
  category: string
  /** Category of single rows by their label. */
  categoryOfRow?: Record<string, string>
  kindOfRow?: Record<string, SeatKind>
  /** Kinds of single seats by their code. */
  kindOfSeat?: Record<string, SeatKind>
  /** An aisle after the n-th seat from the left, in a row of the widest kind. */
  aislesAfter?: number[]
  /** Letters no row has; I and O are left out by default, because people read 1 and 0. */
  lettersSkipped?: string
  /** How far the ends of a row bend towards the screen, in rows. */
  bend?: number
  /** Where the first row stands, in rows from the screen. */
  firstRowAt?: number
}

const AISLE_WIDTH = 1

/** Seats in layout order, one unit apart, rows centred. Letters go A..Z, then AA, AB ... */
export function seatsOfPattern(pattern: RowPattern): LayoutSeat[] {
  const { section = '', codePrefix = '', bend = 0, firstRowAt = 2, aislesAfter = [] } = pattern
  const widths = Array.from({ length: pattern.rows }, (_, row) => seatsInRow(pattern, row))
  const widest = Math.max(...widths)
  const width = widest + aislesAfter.length * AISLE_WIDTH
  const letters = rowLetters(pattern.rows, pattern.lettersSkipped ?? 'IO')
  return widths.flatMap((count, rowIndex) => {
    const row = letters[rowIndex] ?? ''
    const indent = Math.floor((widest - count) / 2)
    return Array.from({ length: count }, (_, index): LayoutSeat => {
      const column = indent + index
      const aisles = aislesAfter.filter((after) => after <= column).length
      const x = column + aisles * AISLE_WIDTH
      const fromMiddle = (x - (width - 1) / 2) / (width / 2)
      const code = `${codePrefix}${row}${index + 1}`
      return {
        code,
        section,
        row,
        number: String(index + 1),
        x,
        y: round(firstRowAt + rowIndex - bend * fromMiddle ** 2),
        category: pattern.categoryOfRow?.[row] ?? pattern.category,
        kind: pattern.kindOfSeat?.[code] ?? pattern.kindOfRow?.[row] ?? 'NORMAL',
      }
    })
  })
}

export function rowLetters(count: number, skipped: string): string[] {
  const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].filter((letter) => !skipped.includes(letter))
  const doubled = alphabet.flatMap((first) => alphabet.map((second) => first + second))
  return [...alphabet, ...doubled].slice(0, count)
}

function seatsInRow(pattern: RowPattern, row: number): number {
  if (typeof pattern.seatsPerRow === 'number') return pattern.seatsPerRow
  return pattern.seatsPerRow[row] ?? pattern.seatsPerRow.at(-1) ?? 0
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
