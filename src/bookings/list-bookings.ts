// Lists bookings, newest first: a customer's own, or what staff look for by reference, name or address.

import { cutPage, readCursor } from '#core/cursor.ts'
import { formatSharded } from '#core/ids.ts'
import type { Money } from '#core/money.ts'
import type { Sql } from '#database/connect.ts'
import type { BookingStatus } from './booking.ts'

export type BookingSummary = {
  id: string
  reference: string
  status: BookingStatus
  amount: Money
  title: string | null
  venue: string | null
  startsAt: string | null
  timeZone: string | null
  createdAt: string
  expiresAt: string
}
export type StaffSummary = BookingSummary & { customerId: string; email: string | null; name: string | null }

export type BookingFilter = {
  /** Absent: everybody's. */
  customerId?: string
  /** A reference, an e-mail address, or a part of a name. */
  q?: string
  status?: BookingStatus
  cursor?: string
  limit: number
}

type Row = Omit<StaffSummary, 'amount'> & { inventoryId: number; amountMinor: number; currency: string }

/** The status is the one shown: an unpaid booking whose hold is over is EXPIRED here too. */
export async function listBookings(
  sql: Sql,
  { customerId, q, status, cursor, limit }: BookingFilter,
): Promise<{ items: StaffSummary[]; nextCursor: string | null }> {
  const [createdAt = null, id = null] = readCursor(cursor, ['time', 'uuid']) ?? []
  const rows = await sql<Row[]>`
    select * from (
      select b.inventory_id, b.id, b.reference, b.customer_id, b.email, b.name, b.amount_minor, b.currency, b.created_at, b.expires_at,
        case when b.status = 'PENDING' and b.expires_at <= (select holdfast_now() offset 0) then 'EXPIRED' else b.status end as status
      from bookings b
      where true ${customerId === undefined ? sql`` : sql`and b.customer_id = ${customerId}`}
        ${q === undefined ? sql`` : sql`and (b.reference = upper(${q}) or lower(b.email) = lower(${q}) or b.name ilike ${likePattern(q)})`}
        ${createdAt === null ? sql`` : sql`and (b.created_at, b.id) < (${createdAt}::timestamptz, ${id}::uuid)`}) b
      left join lateral (
        select d.title, d.venue, d.starts_at, d.time_zone from inventory_descriptions d where d.inventory_id = b.inventory_id) d on true
    where true ${status === undefined ? sql`` : sql`and b.status = ${status}`}
    order by b.created_at desc, b.id desc limit ${limit + 1}`
  const page = cutPage(rows, limit, (row) => [row.createdAt, row.id])
  return { items: page.rows.map(describe), nextCursor: page.nextCursor }
}

function describe({ inventoryId, amountMinor, currency, ...row }: Row): StaffSummary {
  return { ...row, id: formatSharded('book', inventoryId, row.id), amount: { amount: amountMinor, currency } }
}

function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
