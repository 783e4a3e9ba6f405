// Invariant 4: what a confirmed booking must have: its seats, its tickets, and exactly one payment.
import { type AuditCheck, ROWS_MAX } from '#inventory/audit/audit-check.ts'

export const soldSeats: AuditCheck = {
  invariant: '4 sold seats',
  sentence: 'A confirmed booking has the seat of each of its active lines, and no other booking has a seat.',
  find: (tx) => tx`
    with paid_for as (
      select l.inventory_id, l.booking_id, l.seat_code, count(*)::int as lines
      from booking_lines l join bookings b on b.inventory_id = l.inventory_id and b.id = l.booking_id
      where b.status = 'CONFIRMED' and l.status = 'ACTIVE' and l.seat_code is not null group by 1, 2, 3)
    select inventory_id, booking_id, seat_code, coalesce(p.lines, 0) as active_lines, s.booked_at
    from paid_for p full join booked_seats s using (inventory_id, booking_id, seat_code)
    where p.lines is distinct from 1 or s.booked_at is null
    order by inventory_id, booking_id, seat_code limit ${ROWS_MAX}`,
}

export const soldUnits: AuditCheck = {
  invariant: '4 sold units',
  sentence: 'A confirmed booking has the pool units of its active lines, and no other booking has units.',
  find: (tx) => tx`
    with paid_for as (
      select l.inventory_id, l.booking_id, l.pool_code, sum(l.quantity)::int as units
      from booking_lines l join bookings b on b.inventory_id = l.inventory_id and b.id = l.booking_id
      where b.status = 'CONFIRMED' and l.status = 'ACTIVE' and l.pool_code is not null group by 1, 2, 3)
    select inventory_id, booking_id, pool_code, coalesce(p.units, 0) as paid_for, coalesce(s.quantity, 0) as sold
    from paid_for p full join booked_pools s using (inventory_id, booking_id, pool_code)
    where p.units is distinct from s.quantity
    order by inventory_id, booking_id, pool_code limit ${ROWS_MAX}`,
}

// A booking whose remaining lines cost nothing may have been given all of its money back.
export const onePayment: AuditCheck = {
  invariant: '4 one payment',
  sentence:
    'A confirmed booking has exactly one payment of its amount that is captured, or authorised with a capture due.',
  find: (tx) => tx`
    select b.inventory_id, b.id as booking_id, b.reference, b.amount_minor, b.currency, p.id as payment_id, p.status as payment_status,
      p.amount_minor as payment_minor, p.currency as payment_currency
    from bookings b left join payments p on p.inventory_id = b.inventory_id and p.booking_id = b.id and p.pays
    where b.status = 'CONFIRMED' and not coalesce(
      p.amount_minor = b.amount_minor and p.currency = b.currency and (
        p.status in ('CAPTURED', 'REFUNDED')
        or p.status = 'AUTHORISED' and exists (select from settlements s where s.inventory_id = p.inventory_id and s.payment_id = p.id
          and s.kind = 'CAPTURE' and s.status in ('DUE', 'STUCK'))
        or not exists (select from booking_lines l where l.inventory_id = b.inventory_id and l.booking_id = b.id
          and l.status = 'ACTIVE' and l.amount_minor > 0)), false)
    order by b.inventory_id, b.id limit ${ROWS_MAX}`,
}

/** The relay and its consumer issue tickets after the commit: a booking younger than this may still be waiting for them. */
export function tickets(withinMs: number): AuditCheck {
  return {
    invariant: '4 tickets',
    sentence: 'Each active line of a confirmed booking has its valid tickets, and nothing else has one.',
    find: (tx) => tx`
      select l.inventory_id, l.booking_id, l.line_no, b.status as booking_status, l.status as line_status, l.quantity, v.valid
      from (select holdfast_now() as t offset 0) n
      cross join booking_lines l join bookings b on b.inventory_id = l.inventory_id and b.id = l.booking_id
      cross join lateral (select count(*)::int as valid from tickets k
        where k.inventory_id = l.inventory_id and k.booking_id = l.booking_id and k.line_no = l.line_no and k.status = 'VALID') v
      where case when b.status = 'CONFIRMED' and l.status = 'ACTIVE'
        then v.valid > l.quantity or v.valid < l.quantity and b.confirmed_at < n.t - ${withinMs} * interval '1 ms'
        else v.valid > 0 end
      order by l.inventory_id, l.booking_id, l.line_no limit ${ROWS_MAX}`,
  }
}
