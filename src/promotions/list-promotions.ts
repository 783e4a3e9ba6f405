// Promo codes and gift vouchers for those who look after them, a page at a time.
import { cutPage, readCursor } from '#core/cursor.ts'
import type { Money } from '#core/money.ts'
import type { Tx } from '#database/connect.ts'

type PageOf = { cursor?: string; limit: number }
type Status = 'ACTIVE' | 'DISABLED'

export type ListedCode = {
  code: string
  label: string
  basisPoints: number | null
  amount: Money | null
  uses: number
  usesMax: number | null
  usesPerCustomerMax: number | null
  validFrom: string | null
  validUntil: string | null
  status: Status
}

export type ListedVoucher = {
  id: string
  codeEnd: string
  initial: Money
  balance: Money
  validUntil: string | null
  status: Status
}

/** By code. */
export async function listPromoCodes(
  tx: Tx,
  { cursor, limit }: PageOf,
): Promise<{ items: ListedCode[]; nextCursor: string | null }> {
  const [after = ''] = readCursor(cursor, ['text']) ?? []
  const found = await tx<ListedCode[]>`
    select code, label, basis_points, uses, uses_max, uses_per_customer_max, valid_from, valid_until,
      case when amount_minor is not null then jsonb_build_object('amount', amount_minor, 'currency', currency) end as amount,
      case when disabled_at is null then 'ACTIVE' else 'DISABLED' end as status
    from promo_codes where code > ${after} order by code limit ${limit + 1}`
  const { rows, nextCursor } = cutPage([...found], limit, ({ code }) => [code])
  return { items: rows, nextCursor }
}

/** Newest first; never their codes. */
export async function listVouchers(
  tx: Tx,
  { cursor, limit }: PageOf,
): Promise<{ items: ListedVoucher[]; nextCursor: string | null }> {
  const [before = Number.MAX_SAFE_INTEGER] = readCursor(cursor, ['id']) ?? []
  const found = await tx<(ListedVoucher & { number: number })[]>`
    select id as number, 'voucher_' || id as id, code_end, valid_until,
      jsonb_build_object('amount', initial_minor, 'currency', currency) as initial,
      jsonb_build_object('amount', balance_minor, 'currency', currency) as balance,
      case when disabled_at is null then 'ACTIVE' else 'DISABLED' end as status
    from gift_vouchers where id < ${before} order by id desc limit ${limit + 1}`
  const { rows, nextCursor } = cutPage([...found], limit, ({ number }) => [number])
  return { items: rows.map(({ number: _, ...voucher }) => voucher), nextCursor }
}
