// Invariants 1 and 2: who owns a seat. Each seat and each guard row, each held seat and each hold say the same.
import { type AuditCheck, ROWS_MAX } from './audit-check.ts'

export const bookedSeats: AuditCheck = {
  invariant: '1 booked seats',
  sentence: 'No seat has two active bookings; seats and booked_seats agree exactly.',
  find: (tx) => tx`
    select inventory_id, seat_code, s.booking_id as booking_on_the_seat, b.booking_id as booking_in_the_guard,
      b.booking_id is not null and not exists (select from holds h where h.inventory_id = b.inventory_id and h.booking_id = b.booking_id
        and h.status = 'BOOKED' and b.seat_code = any (h.seat_codes)) as unknown_to_its_hold
    from (select inventory_id, seat_code, booking_id from seats where status = 'BOOKED') s
    full join booked_seats b using (inventory_id, seat_code)
    where s.booking_id is distinct from b.booking_id
      or not exists (select from holds h where h.inventory_id = b.inventory_id and h.booking_id = b.booking_id
        and h.status = 'BOOKED' and b.seat_code = any (h.seat_codes))
    order by inventory_id, seat_code limit ${ROWS_MAX}`,
}

// Whoever ends a hold gives back its seats in the same transaction, also long after it lapsed, so the clock plays no part in this.
export const heldSeats: AuditCheck = {
  invariant: '2 held seats',
  sentence: 'Every held seat belongs to exactly one hold that is not over and lists it, with the same expiry.',
  find: (tx) => tx`
    select s.inventory_id, s.seat_code, s.hold_id, s.hold_expires_at, h.status as hold_status, h.expires_at as hold_says
    from seats s left join holds h on h.inventory_id = s.inventory_id and h.id = s.hold_id
    where s.status = 'HELD' and (h.id is null or h.status not in ('HELD', 'CHECKED_OUT') or h.expires_at <> s.hold_expires_at
      or s.seat_code <> all (h.seat_codes))
    order by s.inventory_id, s.seat_code limit ${ROWS_MAX}`,
}

export const wholeHolds: AuditCheck = {
  invariant: '2 whole holds',
  sentence: 'No hold has some of its seats missing before it is over.',
  find: (tx) => tx`
    select h.inventory_id, h.id as hold_id, h.status, h.seat_codes, own.codes as seats_that_carry_it
    from holds h cross join lateral (
      select coalesce(array_agg(s.seat_code), '{}') as codes from seats s
      where s.inventory_id = h.inventory_id and s.seat_code = any (h.seat_codes) and s.status = 'HELD' and s.hold_id = h.id) own
    where h.status in ('HELD', 'CHECKED_OUT') and cardinality(own.codes) <> cardinality(h.seat_codes)
    order by h.inventory_id, h.id limit ${ROWS_MAX}`,
}

export const oneHoldACustomer: AuditCheck = {
  invariant: '2 one hold a customer',
  sentence: 'A customer has one hold at most that is not being paid, in each inventory: a new one replaces it.',
  find: (tx) => tx`
    select inventory_id, customer_id, array_agg(id order by created_at) as hold_ids
    from holds where status = 'HELD' group by inventory_id, customer_id having count(*) > 1
    order by inventory_id, customer_id limit ${ROWS_MAX}`,
}
