// Invariant 5, for what is as good as money: a promo code counts the orders that have it, and a voucher's balance is what nobody has spent of it.
import { type AuditCheck, ROWS_MAX } from '#inventory/audit/audit-check.ts'

export const honestPromotions: AuditCheck = {
  invariant: '5 promotions',
  sentence:
    'The uses of a promo code and the balance of a gift voucher equal the recount from the orders that took them.',
  find: (tx) => tx`
    select 'promo code ' || p.code as what, p.uses::bigint as kept, coalesce(u.uses, 0)::bigint as recounted
    from promo_codes p
    left join (select promo_code, count(*) as uses from promotion_uses where status = 'TAKEN' group by 1) u on u.promo_code = p.code
    where p.uses <> coalesce(u.uses, 0)
    union all
    select 'gift voucher ' || v.id, v.balance_minor, v.initial_minor - coalesce(s.spent, 0)::bigint
    from gift_vouchers v
    left join (select voucher_id, sum(voucher_minor - voucher_returned_minor) as spent from promotion_uses group by 1) s on s.voucher_id = v.id
    where v.balance_minor <> v.initial_minor - coalesce(s.spent, 0)
    union all
    select 'booking ' || b.reference, sum(l.voucher_minor)::bigint, coalesce(max(u.voucher_minor), 0)::bigint
    from bookings b join booking_lines l on l.inventory_id = b.inventory_id and l.booking_id = b.id
    left join promotion_uses u on u.inventory_id = b.inventory_id and u.booking_id = b.id
    group by b.reference having sum(l.voucher_minor) <> coalesce(max(u.voucher_minor), 0)
    order by 1 limit ${ROWS_MAX}`,
}
