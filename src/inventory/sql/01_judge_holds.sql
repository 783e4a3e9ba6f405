-- Judges each request of a batch against the locked, tidied inventories; writes nothing. Called by place_holds only.
-- Every lookup is a lateral subquery fenced by "offset 0" under settings that leave only nested loops over indexes: the plan is made once, perhaps
-- while the tables are empty, and must still be right at twenty million seats. (Measured: a join planned on empty tables cost 120 ms a batch.)
-- shut: what each locked inventory says to everybody at t (CLOSED, NOT_OPEN or null), beside its id in locked_ids; null: all asked for are on sale.
create or replace function judge_holds(asked hold_request[], locked_ids bigint[], shut text[], t timestamptz) returns hold_judgement[]
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  judged hold_judgement[];
begin
  select array_agg(row(a.no,
      case when shut is not null and i.at is null then 'NOT_FOUND'
        when m.same_id is not null then 'SAME'
        when shut is not null and shut[i.at] is not null then shut[i.at]
        when b.codes is not null then 'UNAVAILABLE'
        when a.units_max < coalesce(m.kept_units, 0) + a.units then 'LIMIT'
        when not a.leader then 'DEFERRED'
        else 'HELD' end,
      coalesce(m.same_id, a.hold_id),
      coalesce(m.same_expires_at, least(t + a.ttl_ms * interval '1 ms', m.life_ends_at)),
      b.codes, b.reasons, coalesce(m.kept_units, 0), m.replaced_ids,
      coalesce(m.life_ends_at, t + a.life_ms * interval '1 ms'), s.seat_rows)::hold_judgement order by a.at)
  into judged
  from unnest(asked) with ordinality a (no, inventory_id, hold_id, customer_id, token_hash, ttl_ms, life_ms, seats, pools, units, units_max,
    amount_minor, currency, quote, leader, at)
  cross join lateral (select case when shut is not null then array_position(locked_ids, a.inventory_id) end as at) i
  -- What the customer has here already. An overlapping own hold hands its longest life on to the one that replaces it.
  left join lateral (
    select (array_agg(h.id) filter (where h.same))[1] as same_id, max(h.expires_at) filter (where h.same) as same_expires_at,
      array_agg(h.id) filter (where h.status = 'HELD') as replaced_ids,
      array_agg(h.id) filter (where h.status = 'CHECKED_OUT') as checked_out_ids,
      min(h.life_ends_at) filter (where h.status = 'HELD' and h.overlaps) as life_ends_at,
      sum(h.units) filter (where h.status <> 'HELD')::int as kept_units
    from (
      select h.id, h.status, h.units, h.expires_at, h.life_ends_at,
        case when h.status <> 'BOOKED' and h.seat_codes @> a.seats and h.seat_codes <@ a.seats and hold_has_pools(h.inventory_id, h.id, a.pools)
          then h.quote ->> 'tickets' is not distinct from a.quote ->> 'tickets' else false end as same,
        h.seat_codes && a.seats or (a.seats = '{}' and a.pools is not null) as overlaps
      from holds h
      where h.inventory_id = a.inventory_id and h.customer_id = a.customer_id and h.status in ('HELD', 'CHECKED_OUT', 'BOOKED')
      offset 0) h) m on true
  -- One descent of the index for all seats of a request; unsorted, for a sort node a request costs more than the lookup.
  left join lateral (
    select count(*) as found, array_agg(x.ctid) as seat_rows, array_agg(x.seat_code) filter (where x.reason is not null) as codes,
      array_agg(x.reason) filter (where x.reason is not null) as reasons
    from (
      select x.ctid, x.seat_code, case when x.status = 'AVAILABLE' or x.hold_id = any (m.replaced_ids) then null
        when x.status <> 'HELD' then lower(x.status) when x.hold_id = any (m.checked_out_ids) then 'yours' else 'held' end as reason
      from seats x where x.inventory_id = a.inventory_id and x.seat_code = any (a.seats) offset 0) x) s on true
  cross join lateral (
    select case when s.found < cardinality(a.seats) then s.codes || u.codes else s.codes end as codes,
      case when s.found < cardinality(a.seats) then s.reasons || array_fill('unknown'::text, array[cardinality(u.codes)]) else s.reasons end as reasons
    from (select case when s.found < cardinality(a.seats) then (
        select array_agg(c.code) from unnest(a.seats) c (code)
        where not exists (select from seats x where x.inventory_id = a.inventory_id and x.seat_code = c.code)) end as codes) u) b;
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
  rooms_before int[];
  room int;
  at int;
  back int;
begin
  select coalesce(array_agg(p.inventory_id || '/' || p.pool_code), '{}'), coalesce(array_agg(p.capacity + p.overbook_limit - p.held - p.sold), '{}')
  into keys, rooms
  from pools p where (p.inventory_id, p.pool_code) in
    (select q.inventory_id, l.code from unnest(asked) q cross join lateral jsonb_to_recordset(q.pools) l (code text, quantity int));
  rooms_before := rooms;
  for n in 1 .. cardinality(asked) loop
    a := asked[n];
    j := judged[n];
    continue when a.pools is null or j.outcome not in ('HELD', 'DEFERRED', 'UNAVAILABLE', 'LIMIT');
    for line in select l.code, l.quantity from jsonb_to_recordset(a.pools) l (code text, quantity int) order by l.code loop
      at := array_position(keys, a.inventory_id || '/' || line.code);
      -- Who may not win now is asked again: what this batch grants, perhaps to the same customer, must not refuse them.
      room := case when a.leader then rooms[at] else rooms_before[at] end;
      -- What the customer's own replaced hold gives back counts as room for this request alone.
      select coalesce(sum(h.quantity), 0) into back from hold_pools h
      where h.inventory_id = a.inventory_id and h.hold_id = any (j.own_hold_ids) and h.pool_code = line.code;
      if at is null or room + back < line.quantity then
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
