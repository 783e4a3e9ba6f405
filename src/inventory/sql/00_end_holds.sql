-- Gives back everything that live holds of one locked inventory keep: the one way out for release, expiry and replacement.
-- new_status is RELEASED or EXPIRED. A hold that is no longer live is left alone: its seats and counters went back when it ended.
create or replace function end_holds(in_inventory_id bigint, hold_ids uuid[], new_status text, decided_at timestamptz) returns int
language plpgsql as $$
declare
  ended uuid[];
  next_version bigint;
begin
  with gone as (
    update holds h set status = new_status, ended_at = decided_at, units = 0
    where h.inventory_id = in_inventory_id and h.id = any (hold_ids) and h.status in ('HELD', 'CHECKED_OUT')
    returning h.id)
  select array_agg(id) into ended from gone;
  if ended is null then
    return 0;
  end if;

  update inventories i set version = i.version + 1 where i.id = in_inventory_id returning i.version into next_version;

  with wanted as (
    select h.id, s.code from holds h cross join lateral unnest(h.seat_codes) s (code)
    where h.inventory_id = in_inventory_id and h.id = any (ended)),
  freed as (
    update seats s set status = 'AVAILABLE', hold_id = null, hold_expires_at = null
    from wanted w
    where s.inventory_id = in_inventory_id and s.seat_code = w.code and s.hold_id = w.id and s.status = 'HELD'
    returning s.seat_code),
  given_back as (
    update pools p set held = p.held - q.quantity
    from (select l.pool_code, sum(l.quantity)::int as quantity from hold_pools l
          where l.inventory_id = in_inventory_id and l.hold_id = any (ended) group by l.pool_code) q
    where p.inventory_id = in_inventory_id and p.pool_code = q.pool_code
    returning p.pool_code, p.held, p.sold),
  seat_changes as (select coalesce(array_agg(f.seat_code order by f.seat_code), '{}') as codes from freed f),
  pool_changes as (
    select coalesce(array_agg(g.pool_code order by g.pool_code), '{}') as codes,
      coalesce(array_agg(g.held order by g.pool_code), '{}') as held, coalesce(array_agg(g.sold order by g.pool_code), '{}') as sold
    from given_back g)
  insert into inventory_changes (inventory_id, version, changed_at, seat_codes, seat_statuses, seat_hold_ids, seat_expires_at,
    pool_codes, pool_held, pool_sold)
  select in_inventory_id, next_version, decided_at, s.codes, array_fill('AVAILABLE'::text, array[cardinality(s.codes)]),
    array_fill(null::uuid, array[cardinality(s.codes)]), array_fill(null::timestamptz, array[cardinality(s.codes)]), p.codes, p.held, p.sold
  from seat_changes s, pool_changes p;
  return cardinality(ended);
end $$;
