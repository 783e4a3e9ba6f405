// What a seat board reads: the whole of an inventory as one statement saw it, and then only the change rows after the version it has.
import type { Tx } from '#database/connect.ts'
import type { BoardRow, ChangeRow, HoldOwners } from './seat-board.ts'

/** What stands on the inventory's row beside its version. */
export type SaleState = {
  /** The database's clock when this was read. */
  readAt: string
  onSale: boolean
  saleClosesAt: string
}

export type Followed = SaleState & { inventoryId: number; version: number } & HoldOwners & { changes: ChangeRow[] }

/** Null when there is no such inventory. About 1 ms for 300 seats. */
export async function readBoard(sql: Tx, inventoryId: number): Promise<(BoardRow & SaleState) | null> {
  const [row] = await sql<(BoardRow & SaleState)[]>`
    select n.t as read_at, i.version, coalesce(c.changed_at, n.t) as changed_at, i.sale_closes_at,
      i.status = 'OPEN' and n.t >= i.sale_opens_at and n.t < i.sale_closes_at as on_sale, s.*, h.*
    from (select holdfast_now() as t offset 0) n
    cross join inventories i
    left join inventory_changes c on c.inventory_id = i.id and c.version = i.version
    cross join lateral (
      select coalesce(array_agg(s.seat_code order by s.seat_code collate "C"), '{}') as codes,
        coalesce(string_agg(case s.status when 'AVAILABLE' then 'A' when 'HELD' then 'H' when 'BOOKED' then 'B' else 'X' end, ''
          order by s.seat_code collate "C"), '') as letters,
        coalesce(array_agg(s.seat_code) filter (where s.status = 'HELD'), '{}') as held_codes,
        coalesce(array_agg(s.hold_id) filter (where s.status = 'HELD'), '{}') as held_by,
        coalesce(array_agg(s.hold_expires_at) filter (where s.status = 'HELD'), '{}') as held_until
      from seats s where s.inventory_id = i.id) s
    cross join lateral (
      select coalesce(array_agg(h.id), '{}') as owned_holds, coalesce(array_agg(h.customer_id), '{}') as owners
      from holds h where h.inventory_id = i.id and h.status in ('HELD', 'CHECKED_OUT')) h
    where i.id = ${inventoryId}`
  return row ?? null
}

/**
 * Of each inventory the changes after the version known, in order: `changesMax` at most, then the caller sees a gap. One statement for all of them,
 * so that version, changes and clock belong together; 0.3 ms when nothing happened.
 */
export async function followChanges(
  sql: Tx,
  known: readonly { inventoryId: number; version: number }[],
  changesMax: number,
): Promise<Followed[]> {
  type Row = Omit<Followed, 'changes'> & { change: ChangeRow['version'] | null } & Omit<ChangeRow, 'version'>
  const rows = await sql<Row[]>`
    select n.t as read_at, i.id as inventory_id, i.version, i.sale_closes_at,
      i.status = 'OPEN' and n.t >= i.sale_opens_at and n.t < i.sale_closes_at as on_sale,
      c.version as change, c.changed_at, c.seat_codes, c.seat_statuses, c.seat_hold_ids, c.seat_expires_at,
      coalesce(h.owned_holds, '{}') as owned_holds, coalesce(h.owners, '{}') as owners
    from (select holdfast_now() as t offset 0) n
    cross join unnest(${known.map((one) => one.inventoryId)}::bigint[], ${known.map((one) => one.version)}::bigint[]) k (id, version)
    join inventories i on i.id = k.id
    left join lateral (
      select * from inventory_changes c where c.inventory_id = k.id and c.version > k.version and i.version > k.version
      order by c.version limit ${changesMax}) c on true
    left join lateral (
      select array_agg(h.id) as owned_holds, array_agg(h.customer_id) as owners
      from holds h where h.inventory_id = c.inventory_id and h.id = any (c.seat_hold_ids)) h on true
    order by i.id, c.version`
  const followed = new Map<number, Followed>()
  for (const {
    change,
    changedAt,
    seatCodes,
    seatStatuses,
    seatHoldIds,
    seatExpiresAt,
    ownedHolds,
    owners,
    ...sale
  } of rows) {
    const one = followed.get(sale.inventoryId) ?? { ...sale, ownedHolds: [], owners: [], changes: [] }
    followed.set(sale.inventoryId, one)
    if (change === null) continue
    one.ownedHolds.push(...ownedHolds)
    one.owners.push(...owners)
    one.changes.push({ version: change, changedAt, seatCodes, seatStatuses, seatHoldIds, seatExpiresAt })
  }
  return [...followed.values()]
}
