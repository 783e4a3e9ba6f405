// Invariant 8: the change rows tell the whole story. They are without a gap, lead to the present state, and every step of them was allowed.
import { type AuditCheck, ROWS_MAX } from './audit-check.ts'

export const gaplessVersions: AuditCheck = {
  invariant: '8 versions',
  sentence: 'The version of an inventory grows by every change: its changes are numbered 1, 2, 3 ... up to it.',
  find: (tx) => tx`
    select i.id as inventory_id, i.version, count(c.version)::int as changes, min(c.version) as first, max(c.version) as last
    from inventories i left join inventory_changes c on c.inventory_id = i.id
    group by i.id, i.version
    having count(c.version) <> i.version or min(c.version) <> 1 or max(c.version) <> i.version
    order by i.id limit ${ROWS_MAX}`,
}

export const replayedSeats: AuditCheck = {
  invariant: '8 replayed seats',
  sentence: 'Replaying the changes from the first gives each seat its present state.',
  find: (tx) => tx`
    with last as (
      select distinct on (c.inventory_id, x.code) c.inventory_id, x.code as seat_code, c.version, x.status, x.hold_id, x.expires_at
      from inventory_changes c
      cross join lateral unnest(c.seat_codes, c.seat_statuses, c.seat_hold_ids, c.seat_expires_at)
        with ordinality x (code, status, hold_id, expires_at, no)
      order by c.inventory_id, x.code, c.version desc, x.no desc)
    select inventory_id, seat_code, s.status, l.status as replayed_status, s.hold_id, l.hold_id as replayed_hold_id,
      s.hold_expires_at, l.expires_at as replayed_expires_at, l.version as last_changed_at_version
    from seats s full join last l using (inventory_id, seat_code)
    where (s.status, s.hold_id, s.hold_expires_at) is distinct from (l.status, l.hold_id, l.expires_at)
    order by inventory_id, seat_code limit ${ROWS_MAX}`,
}

export const replayedPools: AuditCheck = {
  invariant: '8 replayed pools',
  sentence: 'Replaying the changes from the first gives each pool its present counters.',
  find: (tx) => tx`
    with last as (
      select distinct on (c.inventory_id, x.code) c.inventory_id, x.code as pool_code, c.version, x.held, x.sold
      from inventory_changes c cross join lateral unnest(c.pool_codes, c.pool_held, c.pool_sold) with ordinality x (code, held, sold, no)
      order by c.inventory_id, x.code, c.version desc, x.no desc)
    select inventory_id, pool_code, p.held, l.held as replayed_held, p.sold, l.sold as replayed_sold, l.version as last_changed_at_version
    from pools p full join last l using (inventory_id, pool_code)
    where (p.held, p.sold) is distinct from (l.held, l.sold)
    order by inventory_id, pool_code limit ${ROWS_MAX}`,
}

// A seat passes from one hold to another, or is sold, only by steps that the clock allowed: what nobody could see in the present state any more,
// such as a sale one microsecond after the hold's end, stands in the history for good.
export const allowedSteps: AuditCheck = {
  invariant: '8 allowed steps',
  sentence:
    'A seat is held only when free, sold only from its hold and before that ended, and let go early only by a release.',
  find: (tx) => tx`
    with steps as (
      select c.inventory_id, c.version, c.changed_at, x.code, x.status, x.hold_id,
        lag(x.status) over story as was, lag(x.hold_id) over story as hold_before, lag(x.expires_at) over story as end_before
      from inventory_changes c
      cross join lateral unnest(c.seat_codes, c.seat_statuses, c.seat_hold_ids, c.seat_expires_at)
        with ordinality x (code, status, hold_id, expires_at, no)
      window story as (partition by c.inventory_id, x.code order by c.version, x.no))
    select t.inventory_id, t.code as seat_code, t.version, t.changed_at, t.was, t.hold_before, t.end_before, t.status, t.hold_id,
      h.status as hold_before_became
    from steps t left join holds h on h.inventory_id = t.inventory_id and h.id = t.hold_before
    where not coalesce(case
        when t.was is null then t.status = 'AVAILABLE' and t.version = 1
        when t.was = 'AVAILABLE' then t.status in ('HELD', 'BLOCKED')
        when t.was = 'BLOCKED' or t.was = 'BOOKED' then t.status = 'AVAILABLE'
        when t.status in ('HELD', 'BOOKED') then t.changed_at < t.end_before and (t.status = 'BOOKED' or t.hold_id = t.hold_before)
        else t.status = 'AVAILABLE' and (h.status = 'RELEASED') = (t.changed_at < t.end_before) end, false)
    order by t.inventory_id, t.version limit ${ROWS_MAX}`,
}
