// Writes a new version of a screen's seats. Showtimes keep the version they were published with, so nothing held or sold ever moves.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import type { LayoutSeat } from './layout.ts'

export const LAYOUT_SEATS_MAX = 5000
// Two thirds of the way back is where a hall is tuned for picture and sound.
const FOCAL_DEPTH = 2 / 3
const ERRORS_SHOWN_MAX = 20

/** Answers the version. LAYOUT_INVALID with every fault; NOT_FOUND when there is no such screen. `focal`: where the best seats are. */
export async function addLayout(
  tx: Tx,
  screenId: number,
  seats: LayoutSeat[],
  focal?: { x: number; y: number },
): Promise<number> {
  // The screen's row orders two editors who save at once.
  const [screen] = await tx<
    { cinemaId: number }[]
  >`select cinema_id from screens where id = ${screenId} for no key update`
  if (!screen) throw new Problem('NOT_FOUND')
  const known = await tx<{ code: string }[]>`select code from seat_categories where cinema_id = ${screen.cinemaId}`
  const categories = new Set(known.map((category) => category.code))
  refuseFaults(seats, categories)

  const right = Math.max(...seats.map((seat) => seat.x))
  const left = Math.min(...seats.map((seat) => seat.x))
  const back = Math.max(...seats.map((seat) => seat.y))
  const middle = focal ?? { x: (left + right) / 2, y: back * FOCAL_DEPTH }
  const [layout] = await tx<{ version: number }[]>`
    insert into layouts (screen_id, version, width, height, focal_x, focal_y)
    select ${screenId}, coalesce(max(version), 0) + 1, ${right}, ${back}, ${middle.x}, ${middle.y} from layouts where screen_id = ${screenId}
    returning version`
  if (!layout) throw new Error('insert into layouts answered no row')
  await tx`
    insert into layout_seats (screen_id, layout_version, position, seat_code, section, row_label, seat_label, x, y, category_code, kind)
    select ${screenId}, ${layout.version}, s.position - 1, s.seat ->> 'code', s.seat ->> 'section', s.seat ->> 'row', s.seat ->> 'number',
      (s.seat ->> 'x')::float8, (s.seat ->> 'y')::float8, s.seat ->> 'category', s.seat ->> 'kind'
    from jsonb_array_elements(${tx.json(seats)}) with ordinality s (seat, position)`
  return layout.version
}

function refuseFaults(seats: LayoutSeat[], categories: Set<string>): void {
  const faults: string[] = []
  if (seats.length === 0) faults.push('a layout has at least one seat')
  if (seats.length > LAYOUT_SEATS_MAX) faults.push(`a layout has at most ${LAYOUT_SEATS_MAX} seats`)
  const seen = new Set<string>()
  for (const [index, seat] of seats.entries()) {
    const place = `seat ${index + 1} (${seat.code})`
    if (seat.code.trim() === '') faults.push(`${place} has no code`)
    if (seen.has(seat.code)) faults.push(`${place} has the code of another seat`)
    seen.add(seat.code)
    if (!categories.has(seat.category))
      faults.push(`${place} has the category ${seat.category}, which the cinema does not have`)
    if (!Number.isFinite(seat.x) || !Number.isFinite(seat.y)) faults.push(`${place} stands nowhere`)
  }
  if (faults.length > 0)
    throw new Problem('LAYOUT_INVALID', { errors: faults.slice(0, ERRORS_SHOWN_MAX), errorsTotal: faults.length })
}
