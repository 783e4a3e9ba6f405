-- What weighs on a customer's limit: seats where there are any (their fare class counts the same person twice), else the pool quantities.
create or replace function hold_units(seats text[], pools jsonb) returns int language sql immutable as $$
  select greatest(cardinality(seats), coalesce((select sum(quantity)::int from jsonb_to_recordset(pools) l (code text, quantity int)), 0))
$$;

-- Judges each request of a batch against the locked, tidied inventories; writes nothing. Called by place_holds only.
create or replace function judge_holds(asked hold_request[], t timestamptz) returns hold_judgement[]
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  judged hold_judgement[];
begin
  with wanted as (
    select a.no, a.customer_id, s.code, x.status, x.hold_id, x.seat_code
    from unnest(asked) a cross join lateral unnest(a.seats) s (code)
    left join seats x on x.inventory_id = a.inventory_id and x.seat_code = s.code),
  own as materialized (
    select a.no, h.id, h.status, h.units, h.expires_at, h.life_ends_at, h.seat_codes,
      h.status <> 'BOOKED' and h.seat_codes @> a.seats and h.seat_codes <@ a.seats
        and not exists (
          (select l.code, l.quantity from jsonb_to_recordset(a.pools) l (code text, quantity int)
           except select p.pool_code, p.quantity from hold_pools p where p.inventory_id = a.inventory_id and p.hold_id = h.id)
          union all
          (select p.pool_code, p.quantity from hold_pools p where p.inventory_id = a.inventory_id and p.hold_id = h.id
           except select l.code, l.quantity from jsonb_to_recordset(a.pools) l (code text, quantity int))) as same,
      h.seat_codes && a.seats as overlaps
    from unnest(asked) a
    join holds h on h.inventory_id = a.inventory_id and h.customer_id = a.customer_id and h.status in ('HELD', 'CHECKED_OUT', 'BOOKED')),
  blocking as (
    select w.no, array_agg(w.code order by w.code) as codes,
      array_agg(case when w.seat_code is null then 'unknown' when w.status <> 'HELD' then lower(w.status)
        when o.id is not null then 'yours' else 'held' end order by w.code) as reasons
    from wanted w left join own o on o.no = w.no and o.id = w.hold_id
    where w.status is distinct from 'AVAILABLE' and not (w.status is not distinct from 'HELD' and o.status is not distinct from 'HELD')
    group by w.no),
  mine as (
    select o.no, (array_agg(o.id order by o.expires_at desc) filter (where o.same))[1] as same_id,
      (array_agg(o.expires_at order by o.expires_at desc) filter (where o.same))[1] as same_expires_at,
      array_agg(o.id) filter (where o.status = 'HELD') as replaced,
      min(o.life_ends_at) filter (where o.status = 'HELD' and o.overlaps) as life_ends_at,
      coalesce(sum(o.units) filter (where o.status <> 'HELD'), 0)::int as kept_units
    from own o group by o.no)
  select array_agg(row(a.no,
      case when i.id is null then 'NOT_FOUND'
        when m.same_id is not null then 'SAME'
        when i.status <> 'OPEN' or t >= i.sale_closes_at then 'CLOSED'
        when t < i.sale_opens_at then 'NOT_OPEN'
        when b.codes is not null then 'UNAVAILABLE'
        when a.units_max < coalesce(m.kept_units, 0) + hold_units(a.seats, a.pools) then 'LIMIT'
        when not a.leader then 'DEFERRED'
        else 'HELD' end,
      coalesce(m.same_id, a.hold_id),
      coalesce(m.same_expires_at, least(t + make_interval(secs => a.ttl_ms / 1000.0), e.life_ends_at)),
      b.codes, b.reasons, coalesce(m.kept_units, 0), m.replaced, e.life_ends_at)::hold_judgement order by a.no)
  into judged
  from unnest(asked) a
  left join inventories i on i.id = a.inventory_id
  left join blocking b on b.no = a.no
  left join mine m on m.no = a.no
  cross join lateral (select coalesce(m.life_ends_at, t + make_interval(secs => a.life_ms / 1000.0)) as life_ends_at) e;

  if exists (select from unnest(asked) a where a.pools is not null) then
    judged := judge_pools(asked, judged);
  end if;
  return judged;
end $$;

-- Lets the requests of a batch into the pools one after another, in the order of arrival: a set-based sum would refuse a later request that
-- still fits because an earlier, larger one did not. Room is counted in memory; the pools are written once a batch.
create or replace function judge_pools(asked hold_request[], judged hold_judgement[]) returns hold_judgement[]
language plpgsql as $$
declare
  a hold_request;
  j hold_judgement;
  line record;
  keys text[] := '{}';
  rooms int[] := '{}';
  at int;
  back int;
begin
  select coalesce(array_agg(p.inventory_id || '/' || p.pool_code), '{}'), coalesce(array_agg(p.capacity + p.overbook_limit - p.held - p.sold), '{}')
  into keys, rooms
  from pools p where (p.inventory_id, p.pool_code) in
    (select q.inventory_id, l.code from unnest(asked) q cross join lateral jsonb_to_recordset(q.pools) l (code text, quantity int));
  for n in 1 .. cardinality(asked) loop
    a := asked[n];
    j := judged[n];
    continue when a.pools is null or j.outcome not in ('HELD', 'DEFERRED', 'UNAVAILABLE', 'LIMIT');
    for line in select l.code, l.quantity from jsonb_to_recordset(a.pools) l (code text, quantity int) order by l.code loop
      at := array_position(keys, a.inventory_id || '/' || line.code);
      -- What the customer's own replaced hold gives back counts as room for this request alone.
      select coalesce(sum(h.quantity), 0) into back from hold_pools h
      where h.inventory_id = a.inventory_id and h.hold_id = any (j.own_hold_ids) and h.pool_code = line.code;
      if at is null or rooms[at] + back < line.quantity then
        j.outcome := 'UNAVAILABLE';
        j.blocking_codes := j.blocking_codes || line.code;
        j.blocking_reasons := j.blocking_reasons || case when at is null then 'unknown' else 'sold_out' end;
      end if;
    end loop;
    if j.outcome = 'HELD' then
      for line in select l.code, l.quantity from jsonb_to_recordset(a.pools) l (code text, quantity int) loop
        at := array_position(keys, a.inventory_id || '/' || line.code);
        rooms[at] := rooms[at] - line.quantity;
      end loop;
      for line in select h.pool_code as code, h.quantity from hold_pools h
        where h.inventory_id = a.inventory_id and h.hold_id = any (j.own_hold_ids)
      loop
        at := array_position(keys, a.inventory_id || '/' || line.code);
        continue when at is null;
        rooms[at] := rooms[at] + line.quantity;
      end loop;
    end if;
    judged[n] := j;
  end loop;
  return judged;
end $$;
