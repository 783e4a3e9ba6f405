// The price of a hold as the server worked it out: frozen in the hold, honoured at confirm, split over its lines once and for ever.

/** Why a line costs what it does, in the order it was worked out: base price, weekend surcharge, booking fee ... Sums to the line. */
export type QuotePart = { label: string; amountMinor: number }

/** One seat, or one quantity of a pool. `taxMinor` is the tax that `amountMinor` contains, for display and documents. */
export type QuoteLine = {
  seat?: string
  pool?: string
  quantity: number
  category: string
  /** Absent: ADULT. */
  ticketType?: string
  amountMinor: number
  taxMinor?: number
  parts: QuotePart[]
}

/** `taxMinor` is the sum over the lines: tax is rounded line by line, so that documents agree with the charge to the cent. */
export type Quote = {
  currency: string
  totalMinor: number
  taxBasisPoints?: number
  taxMinor?: number
  lines: QuoteLine[]
  /** Who is admitted where, of those that are no adults: `A2=CHILD`. With another text it is another wish for the same seats. */
  tickets?: string
}
