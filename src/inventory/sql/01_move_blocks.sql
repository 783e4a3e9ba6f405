-- The one statement list behind block_seats and unblock_seats: seats of one inventory from AVAILABLE to BLOCKED or back.
create or replace function move_blocks(in_inventory_id bigint, seat_list text[], from_status text, to_status text, in_blocked_by text, in_reason text)
returns table (outcome text, blocking_codes text[], blocking_reasons text[])
language plpgsql as $$
#variable_conflict use_column
declare
  t timestamptz;
  codes text[];
  reasons text[];
  next_version bigint;
begin
  perform 1 from inventories i where i.id = in_inventory_id for update;
  t := holdfast_now();
  perform expire_lapsed_holds(in_inventory_id, t);
  select array_agg(w.code order by w.code), array_agg(coalesce(lower(s.status), 'unknown') order by w.code) into codes, reasons
  from unnest(seat_list) w (code) left join seats s on s.inventory_id = in_inventory_id and s.seat_code = w.code
  where s.status is distinct from from_status;
  if codes is not null then
    return query select 'UNAVAILABLE', codes, reasons;
    return;
  end if;

  update seats s set status = to_status where s.inventory_id = in_inventory_id and s.seat_code = any (seat_list) and s.status = from_status;
  if to_status = 'BLOCKED' then
    insert into seat_blocks (inventory_id, seat_code, blocked_by, reason, blocked_at)
    select in_inventory_id, w.code, in_blocked_by, in_reason, t from unnest(seat_list) w (code);
  else
    delete from seat_blocks b where b.inventory_id = in_inventory_id and b.seat_code = any (seat_list);
  end if;
  update inventories i set version = i.version + 1 where i.id = in_inventory_id returning i.version into next_version;
  insert into inventory_changes (inventory_id, version, changed_at, seat_codes, seat_statuses, seat_hold_ids, seat_expires_at)
  select in_inventory_id, next_version, t, seat_list, array_fill(to_status, array[cardinality(seat_list)]),
    array_fill(null::uuid, array[cardinality(seat_list)]), array_fill(null::timestamptz, array[cardinality(seat_list)]);
  return query select case to_status when 'BLOCKED' then 'BLOCKED' else 'UNBLOCKED' end, null::text[], null::text[];
end $$;
