// Reads one version of a screen's seats. It never changes, so whoever asks may keep it for ever.
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { describeLayout, type Layout, type LayoutSeat } from './layout.ts'

type LayoutRow = { width: number; height: number; focalX: number; focalY: number; seats: LayoutSeat[] }

/** NOT_FOUND when the screen has no such version. */
export async function readLayout(sql: Tx, screenId: number, version: number): Promise<Layout> {
  const [row] = await sql<LayoutRow[]>`
    select l.width, l.height, l.focal_x, l.focal_y,
      (select jsonb_agg(jsonb_build_object('code', s.seat_code, 'section', s.section, 'row', s.row_label, 'number', s.seat_label,
          'x', s.x, 'y', s.y, 'category', s.category_code, 'kind', s.kind) order by s.position)
        from layout_seats s where s.screen_id = l.screen_id and s.layout_version = l.version) as seats
    from layouts l where l.screen_id = ${screenId} and l.version = ${version}`
  if (!row) throw new Problem('NOT_FOUND')
  const { width, height, focalX, focalY, seats } = row
  return describeLayout({ screenId, version, width, height, focal: { x: focalX, y: focalY }, seats })
}
