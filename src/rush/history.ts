// What the buyers themselves saw, written down as it happens: the evidence that check-history.ts judges, independent of the system's own books.

export type HoldSeen = {
  buyer: number
  holdId: string
  seats: string[]
  amountMinor: number
  /** When it was asked for and when the yes arrived. */
  sentMs: number
  gotMs: number
  /** It lives at least so long: the time it was promised, counted from when it was asked for. */
  aliveUntilMs: number
  /** When its buyer began to give it up: released it, asked for another one, cancelled. Null: never. */
  endedMs: number | null
  bookingId: string | null
  /** The provider said yes to the buyer's payment. */
  paid: boolean
  /** When its booking was first seen confirmed; null: never. */
  confirmedMs: number | null
  /** Its buyer cancelled the booking. */
  cancelled: boolean
}

/** A booking as it was in the end. */
export type BookingSeen = {
  buyer: number
  bookingId: string
  holdId: string
  status: string
  /** Of its lines that are not cancelled. */
  seats: string[]
  amountMinor: number
  capturedMinor: number
  refundedMinor: number
  tickets: number
  /** Whether it is decided and nothing is owed any more: no capture, void or refund is still under way. */
  settled: boolean
  paid: boolean
  cancelled: boolean
}

export type History = {
  holds: HoldSeen[]
  bookings: BookingSeen[]
  /** Twice the same click, and two different holds came of it. */
  doubleClicksHeldTwice: { buyer: number; holdIds: string[] }[]
}

export function newHistory(): History {
  return { holds: [], bookings: [], doubleClicksHeldTwice: [] }
}

export function addHistory(into: History, more: History): void {
  for (const hold of more.holds) into.holds.push(hold)
  for (const booking of more.bookings) into.bookings.push(booking)
  for (const click of more.doubleClicksHeldTwice) into.doubleClicksHeldTwice.push(click)
}
