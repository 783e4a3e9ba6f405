// What a rush reads of the answers: the contract as a client of it writes it down, for it knows the system by HTTP only.

export type Money = { amount: number; currency: string }

export type PlacedHold = { holdId: string; seats: string[]; amount: Money; remainingMs: number }

export type Checkout = { bookingId: string; status: 'PENDING' | 'CONFIRMED'; paymentUrl: string | null }

export type Booking = {
  id: string
  status: 'PENDING' | 'CONFIRMED' | 'CANCELLED' | 'FAILED' | 'EXPIRED'
  amount: Money
  lines: { seat: string | null; status: 'ACTIVE' | 'CANCELLED' }[]
  payments: { status: string; amount: Money; captured: Money; refunded: Money }[]
  refunds: { status: 'DUE' | 'DONE' | 'STUCK' }[]
  tickets: { status: string }[]
}

export type SeatMap = {
  showtimeId: string
  asOf: string
  currency: string
  seats: { code: string; section?: string; row: string; x: number; y: number; category: string; status: string }[]
}

export type SeatStatuses = { version: number; statuses: string }

export type Queue = {
  ticket: string
  status: 'PRE_QUEUE' | 'WAITING' | 'ADMITTED' | 'SOLD_OUT' | 'LEFT' | 'CLOSED'
  heartbeatSeconds?: number
  admission?: string
}

export type Refusal = { code?: string; retryAfterSeconds?: number; suggestion?: string[] }

export type ShowtimeItem = {
  id: string
  movie: { title: string }
  cinema: { name: string }
  screen: { name: string }
  availability: { free: number; total: number }
}

export type Audit = {
  status: 'CLEAN' | 'FINDINGS'
  asOf: string
  checkedMs: number
  invariants: number
  counts: Record<string, number>
  findings: { invariant: string; sentence: string; rows: unknown[] }[]
}
