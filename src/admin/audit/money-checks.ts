// Invariant 5: no money is stranded. Whatever was taken or reserved pays for a confirmed booking or goes back, in time, to the minor unit.
import { type AuditCheck, ROWS_MAX } from '#inventory/audit/audit-check.ts'

// What becomes of money is decided in the transaction that notes it, so there is no moment at which it may be undecided.
export const decidedMoney: AuditCheck = {
  invariant: '5 decided money',
  sentence: 'Every payment that took or reserved money pays for a booking that was confirmed, or is being given back.',
  find: (tx) => tx`
    select p.inventory_id, p.id as payment_id, p.booking_id, p.status, p.pays, b.status as booking_status, p.amount_minor, p.currency
    from payments p left join bookings b on b.inventory_id = p.inventory_id and b.id = p.booking_id
    where p.pays and b.confirmed_at is null
      or not p.pays and p.status in ('AUTHORISED', 'CAPTURED') and not exists (
        select from settlements s where s.inventory_id = p.inventory_id and s.payment_id = p.id and s.status in ('DUE', 'STUCK')
          and s.kind = case p.status when 'AUTHORISED' then 'VOID' else 'REFUND' end)
    order by p.inventory_id, p.id limit ${ROWS_MAX}`,
}

/** What is owed may take so long, and what is stuck waits for a person. */
export function settledInTime(withinMs: number): AuditCheck {
  return {
    invariant: '5 settled in time',
    sentence: 'What is owed (capture, void, refund) is done within its bound, and nothing is stuck.',
    find: (tx) => tx`
      select s.inventory_id, s.id as settlement_id, s.payment_id, s.kind, s.status, s.amount_minor, s.currency, s.attempts, s.created_at,
        s.last_error
      from (select holdfast_now() as t offset 0) n cross join settlements s
      where s.status = 'STUCK' or s.status = 'DUE' and s.created_at < n.t - ${withinMs} * interval '1 ms'
      order by s.created_at limit ${ROWS_MAX}`,
  }
}

// What a cancellation keeps by its rule stays with us; how much that is was decided then and stands in its refund. Without a cancellation nothing is
// kept but the price of the booking, exactly.
export const keptMoney: AuditCheck = {
  invariant: '5 kept money',
  sentence: 'Captured minus refunded, with what is due, equals what confirmed bookings cost.',
  find: (tx) => tx`
    with owed as (
      select inventory_id, payment_id, sum(amount_minor) filter (where kind = 'CAPTURE') as capture_minor,
        sum(amount_minor) filter (where kind = 'REFUND') as refund_minor
      from settlements where status in ('DUE', 'STUCK') group by 1, 2),
    kept as (
      select p.inventory_id, p.booking_id, sum(p.captured_minor + coalesce(o.capture_minor, 0) - p.refunded_minor - coalesce(o.refund_minor, 0)) as minor
      from payments p left join owed o on o.inventory_id = p.inventory_id and o.payment_id = p.id group by 1, 2),
    cost as (
      select inventory_id, booking_id, coalesce(sum(amount_minor) filter (where status = 'ACTIVE'), 0) as active_minor,
        sum(amount_minor) as minor, bool_or(status = 'CANCELLED') as cancelled
      from booking_lines group by 1, 2)
    select b.inventory_id, b.id as booking_id, b.reference, b.status, b.amount_minor, c.minor::bigint as lines_minor,
      c.active_minor::bigint as active_minor, coalesce(k.minor, 0)::bigint as kept_minor, b.currency
    from bookings b
    left join cost c on c.inventory_id = b.inventory_id and c.booking_id = b.id
    left join kept k on k.inventory_id = b.inventory_id and k.booking_id = b.id
    where c.minor is distinct from b.amount_minor
      or not case when b.confirmed_at is null then coalesce(k.minor, 0) = 0
        when c.cancelled then coalesce(k.minor, 0) between c.active_minor and b.amount_minor
        else coalesce(k.minor, 0) = b.amount_minor end
    order by b.inventory_id, b.id limit ${ROWS_MAX}`,
}

export const evenBooks: AuditCheck = {
  invariant: '5 even books',
  sentence: 'A payment’s word, its amounts and the settlements that were done say the same.',
  find: (tx) => tx`
    with done as (
      select inventory_id, payment_id, coalesce(sum(amount_minor) filter (where kind = 'REFUND'), 0) as refund_minor,
        bool_or(kind = 'CAPTURE') as captured, bool_or(kind = 'VOID') as voided
      from settlements where status = 'DONE' group by 1, 2)
    select p.inventory_id, p.id as payment_id, p.status, p.amount_minor, p.captured_minor, p.refunded_minor,
      coalesce(d.refund_minor, 0)::bigint as refunds_done_minor, d.captured as capture_done, d.voided as void_done
    from payments p left join done d on d.inventory_id = p.inventory_id and d.payment_id = p.id
    where p.refunded_minor <> coalesce(d.refund_minor, 0)
      or (p.status in ('CAPTURED', 'REFUNDED')) <> (p.captured_minor = p.amount_minor and (p.amount_minor > 0 or p.status = 'CAPTURED'))
      or (p.status = 'REFUNDED') <> (p.refunded_minor = p.captured_minor and p.captured_minor > 0)
      or coalesce(d.captured, false) and p.captured_minor <> p.amount_minor
      or coalesce(d.voided, false) <> (p.status = 'VOIDED')
    order by p.inventory_id, p.id limit ${ROWS_MAX}`,
}
