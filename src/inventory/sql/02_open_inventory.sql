-- Puts an inventory on sale: its row, its seats, its pools and the first change row, from which every later state can be replayed.
-- pool_list: [{"code", "capacity", "overbookLimit"}]. Answers the new inventory's id.
create or replace function open_inventory(in_sale_opens_at timestamptz, in_sale_closes_at timestamptz, seat_list text[], pool_list jsonb)
returns bigint
language plpgsql as $$
declare
  new_id bigint;
begin
  insert into inventories (version, sale_opens_at, sale_closes_at)
  values (1, coalesce(in_sale_opens_at, '-infinity'), coalesce(in_sale_closes_at, 'infinity')) returning id into new_id;
  insert into seats (inventory_id, seat_code) select new_id, code from unnest(seat_list) s (code);
  insert into pools (inventory_id, pool_code, capacity, overbook_limit)
  select new_id, l.code, l.capacity, coalesce(l."overbookLimit", 0)
  from jsonb_to_recordset(pool_list) l (code text, capacity int, "overbookLimit" int);
  insert into inventory_changes (inventory_id, version, changed_at, seat_codes, seat_statuses, seat_hold_ids, seat_expires_at,
    pool_codes, pool_held, pool_sold)
  select new_id, 1, holdfast_now(), seat_list, array_fill('AVAILABLE'::text, array[cardinality(seat_list)]),
    array_fill(null::uuid, array[cardinality(seat_list)]), array_fill(null::timestamptz, array[cardinality(seat_list)]),
    coalesce(array_agg(p.pool_code order by p.pool_code), '{}'), coalesce(array_agg(0 order by p.pool_code), '{}'),
    coalesce(array_agg(0 order by p.pool_code), '{}')
  from pools p where p.inventory_id = new_id;
  return new_id;
end $$;
