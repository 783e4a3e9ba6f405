-- Takes free seats off sale with who and why, or (unblock_seats) puts them back. All or nothing. Answers outcome: BLOCKED | UNBLOCKED |
-- UNAVAILABLE with the seats that stood in the way and why (held, booked, blocked, available, unknown).
create or replace function block_seats(in_inventory_id bigint, seat_list text[], in_blocked_by text, in_reason text)
returns table (outcome text, blocking_codes text[], blocking_reasons text[])
language sql as $$ select * from move_blocks(in_inventory_id, seat_list, 'AVAILABLE', 'BLOCKED', in_blocked_by, in_reason) $$;

create or replace function unblock_seats(in_inventory_id bigint, seat_list text[])
returns table (outcome text, blocking_codes text[], blocking_reasons text[])
language sql as $$ select * from move_blocks(in_inventory_id, seat_list, 'BLOCKED', 'AVAILABLE', null, null) $$;
