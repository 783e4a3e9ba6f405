// Where a page of a list ended, as the opaque text a client gives back to go on.
import { Problem } from './problem.ts'

export type CursorKey = (string | number)[]

export function writeCursor(key: CursorKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** What a part of a key may be; a forged one must not reach the database as something it cannot read. */
const READERS = {
  text: (part: unknown) => typeof part === 'string' && !part.includes('\0'),
  time: (part: unknown) =>
    typeof part === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(part) && isTime(part),
  id: (part: unknown) => Number.isSafeInteger(part),
  uuid: (part: unknown) => typeof part === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(part),
}
type Part = keyof typeof READERS
type KeyOf<Shape extends Part[]> = { [Index in keyof Shape]: Shape[Index] extends 'id' ? number : string }

/** Null for the first page. INVALID_REQUEST on anything this server did not write for this list. */
export function readCursor<const Shape extends Part[]>(text: string | undefined, shape: Shape): KeyOf<Shape> | null {
  if (text === undefined) return null
  try {
    const key: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    const fits =
      Array.isArray(key) && key.length === shape.length && shape.every((part, index) => READERS[part](key[index]))
    if (fits) return key as KeyOf<Shape>
  } catch {}
  throw new Problem('INVALID_REQUEST', { errors: [{ path: '/cursor', message: 'is no cursor of this list' }] })
}

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text))
}

/** One row more than asked for tells that there is a next page. */
export function cutPage<Row>(
  rows: Row[],
  limit: number,
  keyOf: (row: Row) => CursorKey,
): { rows: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, nextCursor: rows.length > limit && last !== undefined ? writeCursor(keyOf(last)) : null }
}
