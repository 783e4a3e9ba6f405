// The price of a hold as the server worked it out: frozen in the hold, honoured at confirm, split over its lines once and for ever.

/** Why a line costs what it does, in the order it was worked out: base price, weekend surcharge, booking fee ... Sums to the line. */
export type QuotePart = { label: string; amountMinor: number }

/** One seat, or one quantity of a pool. */
export type QuoteLine = {
  seat?: string
  pool?: string
  quantity: number
  category: string
  amountMinor: number
  parts: QuotePart[]
}

export type Quote = { currency: string; totalMinor: number; lines: QuoteLine[] }
