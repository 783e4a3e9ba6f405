-- Puts a hold's seats and quantities back on sale. Answers outcome: RELEASED | ENDED (it was over already: status says how) | BOOKED | NOT_FOUND,
-- and the status it had before: CHECKED_OUT tells the caller that a payment may be in flight.
create or replace function release_hold(in_inventory_id bigint, in_hold_id uuid)
returns table (outcome text, status text, decided_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  t timestamptz;
  was text;
begin
  perform 1 from inventories i where i.id = in_inventory_id for update;
  t := holdfast_now();
  perform expire_lapsed_holds(in_inventory_id, t);
  select h.status into was from holds h where h.inventory_id = in_inventory_id and h.id = in_hold_id;
  if was is null then
    return query select 'NOT_FOUND', was, t;
  elsif was = 'BOOKED' then
    return query select 'BOOKED', was, t;
  elsif was in ('RELEASED', 'EXPIRED') then
    return query select 'ENDED', was, t;
  else
    perform end_holds(in_inventory_id, array[in_hold_id], 'RELEASED', t);
    return query select 'RELEASED', was, t;
  end if;
end $$;
