// What a buyer names to pay less, and what it comes to for one order.

/** As the buyer types them: case and spaces around do not matter. */
export type Wishes = { promoCode?: string; voucherCode?: string }

export type Reduction = {
  promoCode: string | null
  /** What the code takes off each line, in their order. */
  discountsMinor: number[]
  voucherId: number | null
  /** What the voucher pays of each line, in their order. */
  vouchersMinor: number[]
}

export type Order = {
  inventoryId: number
  customerId: string
  currency: string
  /** What each line costs before. */
  linesMinor: number[]
}

export function typed(code: string): string {
  return code.trim().toUpperCase()
}
