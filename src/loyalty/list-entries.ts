// A customer's points: the balance, and the entries it is the sum of, newest first.
import { cutPage, readCursor } from '#core/cursor.ts'
import { formatSharded } from '#core/ids.ts'
import type { Sql } from '#database/connect.ts'

export type LoyaltyEntry = {
  id: string
  bookingId: string
  reference: string
  reason: 'PAID' | 'REFUNDED'
  points: number
  createdAt: string
}
type Row = LoyaltyEntry & { inventoryId: number; eventId: string }

export async function listEntries(
  sql: Sql,
  { customerId, cursor, limit }: { customerId: string; cursor?: string; limit: number },
): Promise<{ balance: number; items: LoyaltyEntry[]; nextCursor: string | null }> {
  const [createdAt = null, eventId = null] = readCursor(cursor, ['time', 'uuid']) ?? []
  const [sum] = await sql<{ balance: number }[]>`
    select coalesce(sum(points), 0)::bigint as balance from loyalty_entries where customer_id = ${customerId}`
  const rows = await sql<Row[]>`
    select e.inventory_id, e.event_id, e.booking_id, b.reference, e.reason, e.points, e.created_at
    from loyalty_entries e join bookings b on b.inventory_id = e.inventory_id and b.id = e.booking_id
    where e.customer_id = ${customerId}
      ${createdAt === null ? sql`` : sql`and (e.created_at, e.event_id) < (${createdAt}::timestamptz, ${eventId}::uuid)`}
    order by e.created_at desc, e.event_id desc limit ${limit + 1}`
  const page = cutPage(rows, limit, (row) => [row.createdAt, row.eventId])
  return { balance: sum?.balance ?? 0, items: page.rows.map(describe), nextCursor: page.nextCursor }
}

function describe({ inventoryId, eventId, bookingId, reference, reason, points, createdAt }: Row): LoyaltyEntry {
  return {
    id: formatSharded('points', inventoryId, eventId),
    bookingId: formatSharded('book', inventoryId, bookingId),
    ...{ reference, reason, points, createdAt },
  }
}
