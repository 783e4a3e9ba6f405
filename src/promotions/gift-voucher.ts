// Issues a gift voucher: a code of 80 random bits that is as good as cash, kept as its hash and shown once.
import { hash, randomBytes } from 'node:crypto'
import type { Tx } from '#database/connect.ts'

// Without I, L, O, U and the digits they are taken for: it is read out and typed in.
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ23456789'.split('').concat('0', '1')
const LENGTH = 16

export type NewVoucher = { amountMinor: number; currency: string; validUntil?: string; createdBy: string }

/** The code is what its owner needs; it cannot be shown again. */
export async function issueGiftVoucher(tx: Tx, voucher: NewVoucher): Promise<{ id: number; code: string }> {
  const code = newCode()
  const [row] = await tx<{ id: number }[]>`
    insert into gift_vouchers (code_hash, code_end, currency, initial_minor, balance_minor, valid_until, created_by)
    values (decode(${hashVoucher(code)}, 'hex'), ${code.slice(-4)}, ${voucher.currency}, ${voucher.amountMinor}, ${voucher.amountMinor},
      ${voucher.validUntil ?? null}, ${voucher.createdBy})
    returning id`
  if (!row) throw new Error('insert into gift_vouchers answered no row')
  return { id: row.id, code }
}

/** `GV-ABCD-EFGH-…`, with or without its hyphens. */
export function hashVoucher(code: string): string {
  return hash('sha256', code.replaceAll('-', ''))
}

function newCode(): string {
  const letters = [...randomBytes(LENGTH)].map((byte) => LETTERS[byte % LETTERS.length] ?? '')
  return `GV-${[0, 4, 8, 12].map((at) => letters.slice(at, at + 4).join('')).join('-')}`
}
