-- Moves the end of a live hold, on every seat of it at once. Two callers: the customer (checking_out false: status stays HELD, bounded by
-- extensions_max) and the checkout (checking_out true: HELD -> CHECKED_OUT, once, so that the payment session fits inside the hold).
-- The end is never beyond life_ends_at and never moves backwards. Answers outcome: EXTENDED | EXPIRED | EXTENSION_LIMIT | NOT_HELD (status says
-- what it is) | NOT_FOUND, and the hold's end.
create or replace function extend_hold(in_inventory_id bigint, in_hold_id uuid, add_ms int, extensions_max int, checking_out boolean)
returns table (outcome text, status text, expires_at timestamptz, decided_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  t timestamptz;
  h holds;
  new_end timestamptz;
  moved text[];
  next_version bigint;
begin
  perform 1 from inventories i where i.id = in_inventory_id for update;
  t := holdfast_now();
  perform expire_lapsed_holds(in_inventory_id, t);
  select * into h from holds x where x.inventory_id = in_inventory_id and x.id = in_hold_id;
  if h.id is null then
    return query select 'NOT_FOUND', null::text, null::timestamptz, t;
    return;
  elsif h.status = 'EXPIRED' then
    return query select 'EXPIRED', h.status, h.expires_at, t;
    return;
  elsif h.status <> 'HELD' then
    return query select 'NOT_HELD', h.status, h.expires_at, t;
    return;
  elsif not checking_out and (h.extensions >= extensions_max or h.expires_at >= h.life_ends_at) then
    return query select 'EXTENSION_LIMIT', h.status, h.expires_at, t;
    return;
  end if;

  new_end := greatest(h.expires_at, least(t + make_interval(secs => add_ms / 1000.0), h.life_ends_at));
  update holds x set expires_at = new_end, status = case when checking_out then 'CHECKED_OUT' else 'HELD' end,
    extensions = x.extensions + case when checking_out then 0 else 1 end
  where x.inventory_id = in_inventory_id and x.id = in_hold_id and x.status = 'HELD';

  with seats_moved as (
    update seats s set hold_expires_at = new_end
    where s.inventory_id = in_inventory_id and s.seat_code = any (h.seat_codes) and s.hold_id = in_hold_id and s.status = 'HELD'
    returning s.seat_code)
  select coalesce(array_agg(m.seat_code order by m.seat_code), '{}') into moved from seats_moved m;
  if cardinality(moved) <> cardinality(h.seat_codes) then
    raise exception 'hold % has % seats and only % carry it', in_hold_id, cardinality(h.seat_codes), cardinality(moved) using errcode = 'HF002';
  end if;

  update inventories i set version = i.version + 1 where i.id = in_inventory_id returning i.version into next_version;
  insert into inventory_changes (inventory_id, version, changed_at, seat_codes, seat_statuses, seat_hold_ids, seat_expires_at)
  values (in_inventory_id, next_version, t, moved, array_fill('HELD'::text, array[cardinality(moved)]),
    array_fill(in_hold_id, array[cardinality(moved)]), array_fill(new_end, array[cardinality(moved)]));
  return query select 'EXTENDED', case when checking_out then 'CHECKED_OUT' else 'HELD' end, new_end, t;
end $$;
