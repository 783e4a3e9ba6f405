-- Sells what a live, checked-out hold keeps: seats HELD -> BOOKED, pools held -> sold, one row a seat in the second guard, all or nothing.
-- Answers outcome: BOOKED | EXPIRED | NOT_HELD (released, or never checked out; status says) | ALREADY_BOOKED (booking_id says by which) | NOT_FOUND.
-- The expiry is judged on the clock read after the lock; fewer seats than the hold has is refused as a whole, never a smaller sale.
create or replace function confirm_hold(in_inventory_id bigint, in_hold_id uuid, in_booking_id uuid)
returns table (outcome text, status text, booking_id uuid, decided_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  t timestamptz;
  h holds;
  sold_codes text[];
  next_version bigint;
begin
  perform 1 from inventories i where i.id = in_inventory_id for update;
  t := holdfast_now();
  perform expire_lapsed_holds(in_inventory_id, t);
  select * into h from holds x where x.inventory_id = in_inventory_id and x.id = in_hold_id;
  if h.id is null then
    return query select 'NOT_FOUND', null::text, null::uuid, t;
    return;
  elsif h.status = 'BOOKED' then
    return query select 'ALREADY_BOOKED', h.status, h.booking_id, t;
    return;
  elsif h.status = 'EXPIRED' or (h.status in ('HELD', 'CHECKED_OUT') and h.expires_at <= t) then
    return query select 'EXPIRED', h.status, null::uuid, t;
    return;
  elsif h.status <> 'CHECKED_OUT' then
    return query select 'NOT_HELD', h.status, null::uuid, t;
    return;
  end if;

  with seats_sold as (
    update seats s set status = 'BOOKED', hold_id = null, hold_expires_at = null, booking_id = in_booking_id
    where s.inventory_id = in_inventory_id and s.seat_code = any (h.seat_codes) and s.hold_id = in_hold_id and s.status = 'HELD'
    returning s.seat_code)
  select coalesce(array_agg(x.seat_code order by x.seat_code), '{}') into sold_codes from seats_sold x;
  if cardinality(sold_codes) <> cardinality(h.seat_codes) then
    raise exception 'hold % has % seats and only % carry it', in_hold_id, cardinality(h.seat_codes), cardinality(sold_codes) using errcode = 'HF002';
  end if;
  insert into booked_seats (inventory_id, seat_code, booking_id, booked_at) select in_inventory_id, code, in_booking_id, t from unnest(sold_codes) x (code);
  update holds x set status = 'BOOKED', booking_id = in_booking_id, ended_at = t
  where x.inventory_id = in_inventory_id and x.id = in_hold_id and x.status = 'CHECKED_OUT';
  update inventories i set version = i.version + 1 where i.id = in_inventory_id returning i.version into next_version;

  with lines as (
    insert into booked_pools (inventory_id, booking_id, pool_code, quantity)
    select in_inventory_id, in_booking_id, l.pool_code, l.quantity from hold_pools l
    where l.inventory_id = in_inventory_id and l.hold_id = in_hold_id returning pool_code, quantity),
  moved as (
    update pools p set held = p.held - l.quantity, sold = p.sold + l.quantity from lines l
    where p.inventory_id = in_inventory_id and p.pool_code = l.pool_code returning p.pool_code, p.held, p.sold)
  insert into inventory_changes (inventory_id, version, changed_at, seat_codes, seat_statuses, seat_hold_ids, seat_expires_at,
    pool_codes, pool_held, pool_sold)
  select in_inventory_id, next_version, t, sold_codes, array_fill('BOOKED'::text, array[cardinality(sold_codes)]),
    array_fill(null::uuid, array[cardinality(sold_codes)]), array_fill(null::timestamptz, array[cardinality(sold_codes)]),
    coalesce(array_agg(m.pool_code), '{}'), coalesce(array_agg(m.held), '{}'), coalesce(array_agg(m.sold), '{}')
  from moved m;
  return query select 'BOOKED', 'BOOKED', in_booking_id, t;
end $$;
