-- Puts seats (seat_list; null: every one) and pool quantities (pool_list [{"code","quantity"}]; null: every one) of a booking back on sale.
-- Answers outcome: CANCELLED | NOT_BOOKED (a named seat or quantity is not this booking's, or nothing is left; nothing changes), the freed seats,
-- and what the booking still has afterwards.
create or replace function cancel_booked(in_inventory_id bigint, in_booking_id uuid, seat_list text[], pool_list jsonb)
returns table (outcome text, freed_seats text[], seats_left int, pool_units_left int, decided_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  t timestamptz;
  going text[];
  lines jsonb;
  freed text[];
  next_version bigint;
begin
  perform 1 from inventories i where i.id = in_inventory_id for update;
  t := holdfast_now();
  perform expire_lapsed_holds(in_inventory_id, t);
  select coalesce(array_agg(b.seat_code order by b.seat_code), '{}') into going from booked_seats b
  where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id and (seat_list is null or b.seat_code = any (seat_list));
  select coalesce(jsonb_agg(jsonb_build_object('code', b.pool_code, 'quantity', coalesce(l.quantity, b.quantity))), '[]') into lines
  from booked_pools b left join jsonb_to_recordset(pool_list) l (code text, quantity int) on l.code = b.pool_code
  where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id
    and (pool_list is null or (l.code is not null and l.quantity between 1 and b.quantity));
  if cardinality(going) + jsonb_array_length(lines) = 0 or cardinality(going) <> cardinality(coalesce(seat_list, going))
    or jsonb_array_length(lines) <> jsonb_array_length(coalesce(pool_list, lines)) then
    return query select 'NOT_BOOKED', '{}'::text[], null::int, null::int, t;
    return;
  end if;

  with seats_freed as (
    update seats s set status = 'AVAILABLE', booking_id = null
    where s.inventory_id = in_inventory_id and s.seat_code = any (going) and s.booking_id = in_booking_id and s.status = 'BOOKED'
    returning s.seat_code)
  select coalesce(array_agg(x.seat_code order by x.seat_code), '{}') into freed from seats_freed x;
  delete from booked_seats b where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id and b.seat_code = any (going);
  if cardinality(freed) <> cardinality(going) then
    raise exception 'booking % has % seats in booked_seats and only % carry it', in_booking_id, cardinality(going), cardinality(freed)
      using errcode = 'HF002';
  end if;
  delete from booked_pools b using jsonb_to_recordset(lines) l (code text, quantity int)
  where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id and b.pool_code = l.code and b.quantity = l.quantity;
  update booked_pools b set quantity = b.quantity - l.quantity from jsonb_to_recordset(lines) l (code text, quantity int)
  where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id and b.pool_code = l.code;
  update inventories i set version = i.version + 1 where i.id = in_inventory_id returning i.version into next_version;

  with moved as (
    update pools p set sold = p.sold - l.quantity from jsonb_to_recordset(lines) l (code text, quantity int)
    where p.inventory_id = in_inventory_id and p.pool_code = l.code returning p.pool_code, p.held, p.sold)
  insert into inventory_changes (inventory_id, version, changed_at, seat_codes, seat_statuses, seat_hold_ids, seat_expires_at,
    pool_codes, pool_held, pool_sold)
  select in_inventory_id, next_version, t, freed, array_fill('AVAILABLE'::text, array[cardinality(freed)]),
    array_fill(null::uuid, array[cardinality(freed)]), array_fill(null::timestamptz, array[cardinality(freed)]),
    coalesce(array_agg(m.pool_code), '{}'), coalesce(array_agg(m.held), '{}'), coalesce(array_agg(m.sold), '{}')
  from moved m;

  -- What was cancelled no longer weighs on the customer's limit.
  update holds h set units = greatest(
    (select count(*)::int from booked_seats b where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id),
    (select coalesce(sum(b.quantity), 0)::int from booked_pools b where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id))
  where h.inventory_id = in_inventory_id and h.booking_id = in_booking_id and h.status = 'BOOKED';
  return query select 'CANCELLED', freed,
    (select count(*)::int from booked_seats b where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id),
    (select coalesce(sum(b.quantity), 0)::int from booked_pools b where b.inventory_id = in_inventory_id and b.booking_id = in_booking_id), t;
end $$;
