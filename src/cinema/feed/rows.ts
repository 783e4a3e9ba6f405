// Reads single fields out of a feed's rows; what is missing or of another kind is a fault of that row, told with its field.

/** Why one row was not taken; the others go on. */
export class RowFault extends RangeError {}

export type Row = Record<string, unknown>

/** `row` counts from 1 within its section. */
export type SkippedRow = { section: string; row: number; id: string; reason: string }

export function textOf(row: Row, field: string): string {
  const value = row[field]
  if (typeof value !== 'string' || value.trim() === '') throw new RowFault(`${field} is missing`)
  return value
}

export function wholeOf(row: Row, field: string): number {
  const value = row[field]
  if (!Number.isSafeInteger(value)) throw new RowFault(`${field} is ${JSON.stringify(value)}, not a whole number`)
  return value as number
}

export function flagOf(row: Row, field: string): boolean {
  const value = row[field]
  if (typeof value !== 'boolean') throw new RowFault(`${field} is ${JSON.stringify(value)}, not true or false`)
  return value
}

/** JSON's number as it was written: 11.82 stays "11.82", so that it can become minor units exactly. */
export function decimalOf(row: Row, field: string): string {
  const value = row[field]
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw new RowFault(`${field} is ${JSON.stringify(value)}, not an amount`)
  return String(value)
}

/** Reads a section row by row; a row with a fault goes to `skipped` with its place and reason. */
export function readRows<T>(
  feed: Row,
  section: string,
  idField: string,
  skipped: SkippedRow[],
  read: (row: Row, id: string, number: number) => T,
): T[] {
  const rows = feed[section]
  if (!Array.isArray(rows)) {
    skipped.push({ section, row: 0, id: '', reason: 'the section is missing' })
    return []
  }
  return rows.flatMap((row: unknown, index) => {
    const fields = typeof row === 'object' && row !== null ? (row as Row) : {}
    const id = String(fields[idField] ?? '')
    try {
      if (id === '') throw new RowFault(`${idField} is missing`)
      return [read(fields, id, index + 1)]
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      skipped.push({ section, row: index + 1, id, reason: error.message })
      return []
    }
  })
}

export function refuseTwice(seen: Set<string>, id: string): void {
  if (seen.has(id)) throw new RowFault('an earlier row has the same id')
  seen.add(id)
}
