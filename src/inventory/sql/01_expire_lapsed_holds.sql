-- Turns every lapsed hold of one locked inventory into history: seats AVAILABLE, pool quantities given back, hold EXPIRED, one version.
-- Each write to an inventory calls it first, so whatever is decided afterwards sees exact seats and counters although no worker runs, and
-- a hold whose seats are about to be taken by somebody else can never be confirmed with what is left of it.
-- The caller holds the inventory's row lock and has read decided_at after it. Answers how many holds lapsed.
create or replace function expire_lapsed_holds(in_inventory_id bigint, decided_at timestamptz) returns int
language plpgsql as $$
declare
  lapsed uuid[];
begin
  if (select i.next_lapse_at > decided_at from inventories i where i.id = in_inventory_id) then
    return 0;
  end if;
  select array_agg(h.id order by h.expires_at, h.id) into lapsed from holds h
  where h.inventory_id = in_inventory_id and h.status in ('HELD', 'CHECKED_OUT') and h.expires_at <= decided_at;
  if lapsed is not null then
    perform end_holds(in_inventory_id, lapsed, 'EXPIRED', decided_at);
  end if;
  update inventories i set next_lapse_at = coalesce((select min(h.expires_at) from holds h
    where h.inventory_id = in_inventory_id and h.status in ('HELD', 'CHECKED_OUT')), 'infinity')
  where i.id = in_inventory_id;
  return coalesce(cardinality(lapsed), 0);
end $$;
