// What must be true of the money, the seats and the facts told after everything has come to rest, whatever happened before.
import assert from 'node:assert/strict'
import type { Sql } from '#database/connect.ts'

export async function assertSoundBooks(sql: Sql): Promise<void> {
  const found = {
    'the sandbox and we agree on every payment': await sql`
      select p.id, p.status, p.captured_minor, p.refunded_minor, s.status as theirs, s.captured_minor as their_captured, s.refunded_minor as their_refunded
      from payments p join sandbox_payments s on s.id = p.provider_payment_id
      where (p.captured_minor, p.refunded_minor) is distinct from (s.captured_minor, s.refunded_minor)
        or (p.status in ('CAPTURED', 'REFUNDED')) <> (s.status = 'CAPTURED') or (p.status = 'VOIDED') <> (s.status = 'VOIDED')
        or (p.status = 'AUTHORISED') <> (s.status = 'AUTHORISED')`,
    'its movements are its balance': await sql`
      select s.id from sandbox_payments s
      left join lateral (select coalesce(sum(amount_minor) filter (where kind = 'CAPTURE'), 0) as captured,
        coalesce(sum(amount_minor) filter (where kind = 'REFUND'), 0) as refunded from sandbox_movements m where m.payment_id = s.id and m.status = 'DONE') m on true
      where (s.captured_minor, s.refunded_minor) is distinct from (m.captured, m.refunded)`,
    'nothing is owed any more':
      await sql`select kind, status, last_error from settlements where status in ('DUE', 'STUCK')`,
    'a confirmed booking has exactly one payment that pays, captured': await sql`
      select b.id, count(p.id) from bookings b left join payments p on p.inventory_id = b.inventory_id and p.booking_id = b.id and p.pays
        and p.status in ('CAPTURED', 'REFUNDED')
      where b.status = 'CONFIRMED' group by b.id having count(p.id) <> 1`,
    'money of no booking went back whole': await sql`
      select id, status from payments where not pays and (status in ('AUTHORISED', 'CREATED') or captured_minor <> refunded_minor)`,
    'refunds are what was owed, and never more than was paid': await sql`
      select p.id from payments p left join settlements s on s.payment_id = p.id and s.kind = 'REFUND' and s.status = 'DONE'
      group by p.inventory_id, p.id having p.refunded_minor <> coalesce(sum(s.amount_minor), 0) or p.refunded_minor > p.captured_minor`,
    'lines sum to the booking': await sql`
      select b.id from bookings b join booking_lines l on l.booking_id = b.id group by b.inventory_id, b.id having sum(l.amount_minor) <> b.amount_minor`,
    'active lines of confirmed bookings are the booked seats': await sql`
      select coalesce(l.seat_code, s.seat_code) as seat from
        (select l.booking_id, l.seat_code from booking_lines l join bookings b on b.id = l.booking_id
          where b.status = 'CONFIRMED' and l.status = 'ACTIVE' and l.seat_code is not null) l
        full join (select booking_id, seat_code from seats where status = 'BOOKED') s using (booking_id, seat_code)
      where l.booking_id is null or s.booking_id is null`,
    'each active line of a confirmed booking has one valid ticket, and nothing else has': await sql`
      select l.booking_id, l.line_no, count(t.id) from booking_lines l join bookings b on b.id = l.booking_id
        left join tickets t on t.booking_id = l.booking_id and t.line_no = l.line_no and t.status = 'VALID'
      group by l.booking_id, l.line_no, b.status, l.status
      having count(t.id) <> case when b.status = 'CONFIRMED' and l.status = 'ACTIVE' then 1 else 0 end`,
    'facts are numbered without a gap': await sql`
      select b.id from bookings b left join outbox o on o.booking_id = b.id group by b.inventory_id, b.id
      having count(o.id) <> b.event_seq or coalesce(max(o.seq), 0) <> b.event_seq`,
    'each booking tells its end once': await sql`
      select b.id, b.status, array_agg(o.name) from bookings b join outbox o on o.booking_id = b.id
      where o.name in ('BookingConfirmed', 'BookingCancelled', 'BookingFailed', 'BookingExpired') group by b.inventory_id, b.id
      having count(*) <> count(distinct o.name)
        or count(*) filter (where o.name = 'BookingConfirmed') <> case when b.confirmed_at is null then 0 else 1 end
        or bool_or(o.name = 'Booking' || initcap(lower(b.status))) is distinct from (b.status <> 'PENDING')`,
  }
  for (const [fact, rows] of Object.entries(found)) assert.deepEqual([...rows], [], fact)
}
