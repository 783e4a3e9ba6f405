-- Tidies one inventory's lapsed holds under its lock; what the sweeper calls. Answers how many holds lapsed.
create or replace function expire_inventory(in_inventory_id bigint) returns int
language plpgsql as $$
declare
  t timestamptz;
begin
  perform 1 from inventories i where i.id = in_inventory_id for update;
  t := holdfast_now();
  return expire_lapsed_holds(in_inventory_id, t);
end $$;
