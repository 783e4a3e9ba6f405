-- Decides a batch of hold requests, for any number of inventories, in one transaction: the single-server form of the engine.
--
-- One array a field, one element a request, in the order of arrival (a JSON document of the same batch took 8 of 40 ms to read):
-- lock_ids are the distinct inventories, seat_lists array literals ('{F5,F6}'), pool_lists [{"code", "quantity"}] or null, units what the request weighs on the customer's limit
-- units_max (null: none), quotes one JSON array of all quotes.
-- A request that is not a leader shares a seat or its customer with an earlier one of the batch: it is judged, never granted here. A refusal
-- found now is true now; one that nothing stands against answers DEFERRED and comes again in the next batch.
--
-- Answers one row a request. outcome: HELD | SAME (the customer's own live hold of exactly this) | UNAVAILABLE (blocking_* say what stood in
-- the way and why: held, yours, booked, blocked, unknown; pools: sold_out, unknown) | LIMIT (counted_units: what the customer has already)
-- | CLOSED | NOT_OPEN | NOT_FOUND | DEFERRED.
-- blocking_codes of HELD are the seats of the customer's earlier hold that was released for it; blocking_reasons are null then.
-- hold_id is told for SAME only, decided_at in the first row only: it is the batch's.
-- Two leaders that name one seat are a broken caller: the row count below refuses the whole batch and nothing is written.
create or replace function place_holds(lock_ids bigint[], inventory_ids bigint[], hold_ids uuid[], customer_ids text[], token_hashes bytea[], ttls_ms int[],
  lives_ms int[], seat_lists text[], pool_lists jsonb[], units int[], units_max int[], amounts_minor bigint[], currencies text[], quotes json,
  leaders boolean[]) returns table (
  no int, outcome text, hold_id uuid, expires_at timestamptz, decided_at timestamptz,
  blocking_codes text[], blocking_reasons text[], counted_units int)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  asked hold_request[];
  judged hold_judgement[];
  locked_ids bigint[];
  t timestamptz;
  next_lapse_at timestamptz;
  statuses text[];
  opens timestamptz[];
  closes timestamptz[];
  shut text[];
  replaced record;
  wanted_seats bigint;
  taken_seats bigint;
begin
  -- with ordinality: PostgreSQL knows that order, so the aggregate needs no sort.
  select array_agg(row(r.no, r.inventory_id, r.hold_id, r.customer_id, r.token_hash, r.ttl_ms, r.life_ms, r.seats::text[], r.pools, r.units,
      r.units_max, r.amount_minor, r.currency, r.quote, r.leader)::hold_request order by r.no)
  into asked
  from rows from (unnest(inventory_ids, hold_ids, customer_ids, token_hashes, ttls_ms, lives_ms, seat_lists, pool_lists, units, units_max,
      amounts_minor, currencies, leaders), json_array_elements(quotes)) with ordinality
    r (inventory_id, hold_id, customer_id, token_hash, ttl_ms, life_ms, seats, pools, units, units_max, amount_minor, currency, leader, quote, no);

  with locked as materialized (
    select i.* from inventories i where i.id = any (lock_ids) order by i.id for update)
  select array_agg(l.id), min(l.next_lapse_at), array_agg(l.status), array_agg(l.sale_opens_at), array_agg(l.sale_closes_at)
  into locked_ids, next_lapse_at, statuses, opens, closes from locked l;
  t := holdfast_now();
  -- Left null when every inventory is there and on sale, which spares each request the search for its own.
  if cardinality(locked_ids) is distinct from cardinality(lock_ids) or 'CLOSED' = any (statuses) or t < any (opens) or t >= any (closes) then
    select array_agg(case when i.status <> 'OPEN' or t >= i.closes_at then 'CLOSED' when t < i.opens_at then 'NOT_OPEN' end order by i.at) into shut
    from unnest(statuses, opens, closes) with ordinality i (status, opens_at, closes_at, at);
    shut := coalesce(shut, '{}');
  end if;
  if next_lapse_at <= t then
    perform expire_lapsed_holds(l.id, t) from unnest(locked_ids) l (id);
  end if;

  judged := judge_holds(asked, locked_ids, shut, t);
  if exists (select from unnest(pool_lists) l where l is not null) then
    judged := judge_pools(asked, judged);
  end if;

  -- A new hold replaces the customer's own earlier one of the same inventory, so that retries never pile up seats.
  for replaced in select j.no, j.own_hold_ids from unnest(judged) j where j.outcome = 'HELD' and j.own_hold_ids is not null
  loop
    perform end_holds(asked[replaced.no].inventory_id, replaced.own_hold_ids, 'RELEASED', t);
    judged[replaced.no].seat_rows := (select array_agg(s.ctid) from seats s
      where s.inventory_id = asked[replaced.no].inventory_id and s.seat_code = any (asked[replaced.no].seats));
    judged[replaced.no].blocking_codes := (select array_agg(s.code order by s.code collate "C") from holds h cross join lateral unnest(h.seat_codes) s (code)
      where h.inventory_id = asked[replaced.no].inventory_id and h.id = any (replaced.own_hold_ids));
  end loop;

  -- judged and asked are both in the order of no, so unnest walks them side by side; a join on no would be quadratic here.
  with won as materialized (
    select a.* from unnest(judged, asked) a (judged_no, outcome, same_id, expires_at, blocking_codes, blocking_reasons, counted_units, own_hold_ids,
      life_ends_at, seat_rows, no, inventory_id, hold_id, customer_id, token_hash, ttl_ms, life_ms, seats, pools, units, units_max, amount_minor, currency,
      quote, leader)
    where a.outcome = 'HELD'),
  taken as (
    -- By the row's address, which the judge has just read: nothing moves a seat's row while its inventory is locked, but the release above, which has
    -- read it again. A second search of the index was 9 % of a batch; the count below would refuse a row that is not the one meant.
    update seats s set status = 'HELD', hold_id = w.hold_id, hold_expires_at = w.expires_at
    from (select w.inventory_id, w.hold_id, w.expires_at, w.seats, r.at from won w cross join lateral unnest(w.seat_rows) r (at)) w
    where s.ctid = w.at and s.inventory_id = w.inventory_id and s.seat_code = any (w.seats) and s.status = 'AVAILABLE'
    returning 1),
  placed as (
    insert into holds (inventory_id, id, customer_id, token_hash, status, seat_codes, units, amount_minor, currency, quote, created_at,
      expires_at, life_ends_at)
    select w.inventory_id, w.hold_id, w.customer_id, w.token_hash, 'HELD', w.seats, w.units, w.amount_minor, w.currency, w.quote, t,
      w.expires_at, w.life_ends_at
    from won w),
  pool_lines as materialized (
    select w.inventory_id, w.hold_id, l.code, l.quantity from won w
    cross join lateral jsonb_to_recordset(w.pools) l (code text, quantity int) where w.pools is not null),
  pool_placed as (
    insert into hold_pools (inventory_id, hold_id, pool_code, quantity) select inventory_id, hold_id, code, quantity from pool_lines),
  counted as (
    update pools p set held = p.held + q.quantity
    from (select inventory_id, code, sum(quantity)::int as quantity from pool_lines group by inventory_id, code) q
    where p.inventory_id = q.inventory_id and p.pool_code = q.code
    returning p.inventory_id, p.pool_code, p.held, p.sold),
  bumped as (
    update inventories i set version = i.version + 1, next_lapse_at = least(i.next_lapse_at, g.first_end)
    from (select x.inventory_id, min(x.expires_at) as first_end, array_agg(x.code) filter (where x.code is not null) as codes,
        array_agg(x.hold_id) filter (where x.code is not null) as hold_ids, array_agg(x.expires_at) filter (where x.code is not null) as ends
      from (select w.inventory_id, w.hold_id, w.expires_at, s.code from won w left join lateral unnest(w.seats) s (code) on true) x
      group by x.inventory_id) g
    where i.id = g.inventory_id
    returning i.id, i.version, coalesce(g.codes, '{}') as codes, coalesce(g.hold_ids, '{}') as hold_ids, coalesce(g.ends, '{}') as ends),
  changed as (
    insert into inventory_changes (inventory_id, version, changed_at, seat_codes, seat_statuses, seat_hold_ids, seat_expires_at,
      pool_codes, pool_held, pool_sold)
    select b.id, b.version, t, b.codes, array_fill('HELD'::text, array[cardinality(b.codes)]), b.hold_ids, b.ends,
      coalesce(p.codes, '{}'), coalesce(p.held, '{}'), coalesce(p.sold, '{}')
    from bumped b left join lateral (
      select array_agg(c.pool_code) as codes, array_agg(c.held) as held, array_agg(c.sold) as sold from counted c where c.inventory_id = b.id) p
    on true)
  select (select sum(cardinality(w.seats)) from won w), (select count(*) from taken) into wanted_seats, taken_seats;

  if taken_seats <> wanted_seats then
    raise exception 'a batch wanted % seats and got %: two of its requests name one seat', wanted_seats, taken_seats using errcode = 'HF001';
  end if;

  return query select j.no, j.outcome, case when j.outcome = 'SAME' then j.hold_id end, j.expires_at, case when j.no = 1 then t end, j.blocking_codes, j.blocking_reasons, j.counted_units from unnest(judged) j;
end $$;
