// Invariants 3 and 7: what is counted equals what is there, and whatever is off sale says who and why.
import { type AuditCheck, ROWS_MAX } from './audit-check.ts'

// Quantities of lapsed holds are counted until somebody ends the hold, and given back with it: never one without the other.
export const poolCounters: AuditCheck = {
  invariant: '3 pool counters',
  sentence: 'held and sold of each pool equal the recount from holds and active bookings; never over the limit.',
  find: (tx) => tx`
    with held as (
      select l.inventory_id, l.pool_code, sum(l.quantity) as units
      from hold_pools l join holds h on h.inventory_id = l.inventory_id and h.id = l.hold_id
      where h.status in ('HELD', 'CHECKED_OUT') group by 1, 2),
    sold as (select inventory_id, pool_code, sum(quantity) as units from booked_pools group by 1, 2)
    select inventory_id, pool_code, p.capacity + p.overbook_limit as most, p.held, p.sold,
      coalesce(h.units, 0)::int as held_by_recount, coalesce(s.units, 0)::int as sold_by_recount
    from pools p full join held h using (inventory_id, pool_code) full join sold s using (inventory_id, pool_code)
    where p.held is distinct from coalesce(h.units, 0) or p.sold is distinct from coalesce(s.units, 0)
      or p.held + p.sold > p.capacity + p.overbook_limit
    order by inventory_id, pool_code limit ${ROWS_MAX}`,
}

export const boundedLives: AuditCheck = {
  invariant: '7 bounded lives',
  sentence: 'No hold that is not over ends beyond its maximum life.',
  find: (tx) => tx`
    select inventory_id, id as hold_id, customer_id, status, expires_at, life_ends_at from holds
    where status in ('HELD', 'CHECKED_OUT') and expires_at > life_ends_at order by inventory_id, id limit ${ROWS_MAX}`,
}

export const reasonedBlocks: AuditCheck = {
  invariant: '7 reasoned blocks',
  sentence: 'Every blocked seat has a block that says who and why, and every block its seat.',
  find: (tx) => tx`
    select inventory_id, seat_code, s.status, b.blocked_by, b.reason
    from (select inventory_id, seat_code, status from seats where status = 'BLOCKED') s
    full join seat_blocks b using (inventory_id, seat_code)
    where s.status is null or b.blocked_by is null or b.blocked_by = '' or b.reason = ''
    order by inventory_id, seat_code limit ${ROWS_MAX}`,
}

// What tells a write, by the inventory's own row, that nothing here has lapsed. Later than a hold's end it would keep that hold alive beyond it.
export const knownLapses: AuditCheck = {
  invariant: '7 known lapses',
  sentence: 'No hold that is not over ends before the next lapse its inventory knows of.',
  find: (tx) => tx`
    select i.id as inventory_id, i.next_lapse_at, h.id as hold_id, h.expires_at
    from inventories i join holds h on h.inventory_id = i.id and h.status in ('HELD', 'CHECKED_OUT') and h.expires_at < i.next_lapse_at
    order by i.id, h.expires_at limit ${ROWS_MAX}`,
}

// The tables the hot path writes have no foreign keys (see 0001_inventory.sql); this is what they would have said. Seats and pools of bookings are
// compared with booked_seats and booked_pools by the invariants 1 and 3, blocks with seats above.
export const nothingDangles: AuditCheck = {
  invariant: '7 nothing dangles',
  sentence: 'Every seat, pool, hold, hold line and change belongs to what it names, and that exists.',
  find: (tx) => tx`
    select * from (
      select 'seats' as table_name, s.inventory_id, s.seat_code as key, 'no such inventory' as what from seats s
      where not exists (select from inventories i where i.id = s.inventory_id)
      union all
      select 'pools', p.inventory_id, p.pool_code, 'no such inventory' from pools p
      where not exists (select from inventories i where i.id = p.inventory_id)
      union all
      select 'holds', h.inventory_id, h.id::text, 'no such inventory' from holds h
      where not exists (select from inventories i where i.id = h.inventory_id)
      union all
      select 'holds', h.inventory_id, h.id::text, 'no such seat: ' || c.code from holds h cross join lateral unnest(h.seat_codes) c (code)
      where not exists (select from seats s where s.inventory_id = h.inventory_id and s.seat_code = c.code)
      union all
      select 'hold_pools', l.inventory_id, l.hold_id::text, 'no such hold or pool: ' || l.pool_code from hold_pools l
      where not exists (select from holds h where h.inventory_id = l.inventory_id and h.id = l.hold_id)
        or not exists (select from pools p where p.inventory_id = l.inventory_id and p.pool_code = l.pool_code)
      union all
      select 'inventory_changes', c.inventory_id, c.version::text, 'no such inventory' from inventory_changes c
      where not exists (select from inventories i where i.id = c.inventory_id)) d
    order by table_name, inventory_id, key limit ${ROWS_MAX}`,
}
