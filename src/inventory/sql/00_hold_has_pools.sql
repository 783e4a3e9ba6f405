-- Whether a hold keeps exactly these pool quantities ([{"code", "quantity"}], null: none).
create or replace function hold_has_pools(in_inventory_id bigint, in_hold_id uuid, in_pools jsonb) returns boolean
language plpgsql stable as $$
begin
  return coalesce((select jsonb_object_agg(l.pool_code, l.quantity) from hold_pools l
      where l.inventory_id = in_inventory_id and l.hold_id = in_hold_id), '{}')
    = coalesce((select jsonb_object_agg(l.code, l.quantity) from jsonb_to_recordset(in_pools) l (code text, quantity int)), '{}');
end $$;
