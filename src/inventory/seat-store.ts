// The contract of everything that can sell seats: what may be asked of an inventory and what each answer means.
// Two stores pass the same contract tests: memory-store.ts (one process, the reference model) and postgres-store.ts (the product).
//
// All or nothing everywhere. Expected refusals are data, never exceptions; an exception means nothing was changed. Times are RFC 3339 UTC texts
// with microseconds, on the store's one clock. A hold is live if and only if now < expiresAt, with no worker running.

export type SeatStatus = 'AVAILABLE' | 'HELD' | 'BOOKED' | 'BLOCKED'
export type HoldStatus = 'HELD' | 'CHECKED_OUT' | 'BOOKED' | 'RELEASED' | 'EXPIRED'

/** Why a seat or pool stood in the way. `yours`: your own hold that is already checked out. */
export type BlockingReason = 'held' | 'yours' | 'booked' | 'blocked' | 'available' | 'unknown' | 'sold_out'
export type Blocking = { code: string; reason: BlockingReason }

export type PoolQuantity = { code: string; quantity: number }

export type NewInventory = {
  /** Distinct seat codes, in layout order. */
  seats: string[]
  pools?: { code: string; capacity: number; overbookLimit?: number }[]
  saleOpensAt?: string
  saleClosesAt?: string
}

export type PlaceRequest = {
  inventoryId: number
  /** A UUID made by the caller, so that an unknown outcome can be asked for afterwards. */
  holdId: string
  customerId: string
  /** SHA-256 of the hold token, 64 hex digits. */
  tokenHash: string
  ttlMs: number
  /** The longest this hold may ever live, extensions included. */
  lifeMs: number
  /** Distinct seat codes; may be empty when pools are asked for. */
  seats: string[]
  pools?: PoolQuantity[]
  amountMinor: number
  currency: string
  /**
   * The frozen quote as the trade priced it; kept and given back as it is. Of one thing in it the store takes note: a text `tickets` says who is admitted
   * where; with another one it is another wish for the same seats, and replaces the hold.
   */
  quote: unknown
  /** Units this customer may have in this inventory over live holds and bookings; absent: no limit. */
  unitsMax?: number
}

export type PlaceOutcome =
  /** Granted. The customer's own earlier HELD hold of this inventory, if any, was released in the same transaction: `replacedSeats`, if it had any. */
  | { outcome: 'HELD'; holdId: string; expiresAt: string; decidedAt: string; replacedSeats?: string[] }
  /** The customer holds exactly this already: their hold as it was, end unchanged. */
  | { outcome: 'SAME'; holdId: string; expiresAt: string; decidedAt: string }
  | { outcome: 'UNAVAILABLE'; blocking: Blocking[]; decidedAt: string }
  | { outcome: 'LIMIT'; unitsMax: number; countedUnits: number; decidedAt: string }
  | { outcome: 'CLOSED' | 'NOT_OPEN' | 'NOT_FOUND'; decidedAt: string }
  /** Judged only (see `place`): nothing stood in the way, ask again. */
  | { outcome: 'DEFERRED'; decidedAt: string }

export type ExtendOutcome = {
  outcome: 'EXTENDED' | 'EXPIRED' | 'EXTENSION_LIMIT' | 'NOT_HELD' | 'NOT_FOUND'
  status: HoldStatus | null
  expiresAt: string | null
  decidedAt: string
}
export type ReleaseOutcome = {
  /** ENDED: it was over already, released or expired. BOOKED: sold, cancel the booking instead. */
  outcome: 'RELEASED' | 'ENDED' | 'BOOKED' | 'NOT_FOUND'
  /** The status before the call; CHECKED_OUT means a payment may be in flight. */
  status: HoldStatus | null
  decidedAt: string
}
export type ConfirmOutcome = {
  /** EXPIRED: late, whoever has the seats now. NOT_HELD: released, or never checked out. */
  outcome: 'BOOKED' | 'EXPIRED' | 'NOT_HELD' | 'ALREADY_BOOKED' | 'NOT_FOUND'
  status: HoldStatus | null
  bookingId: string | null
  decidedAt: string
}
export type CancelOutcome = {
  outcome: 'CANCELLED' | 'NOT_BOOKED'
  freedSeats: string[]
  seatsLeft: number | null
  poolUnitsLeft: number | null
  decidedAt: string
}
export type BlockOutcome = { outcome: 'BLOCKED' | 'UNBLOCKED' | 'UNAVAILABLE'; blocking: Blocking[] }

export type SeatState = {
  code: string
  status: SeatStatus
  holdId: string | null
  expiresAt: string | null
  bookingId: string | null
}
export type PoolState = { code: string; capacity: number; overbookLimit: number; held: number; sold: number }
export type InventoryState = {
  inventoryId: number
  version: number
  asOf: string
  /** By seat code. A lapsed hold is shown AVAILABLE. */
  seats: SeatState[]
  /** By pool code. Quantities of lapsed holds are not counted. */
  pools: PoolState[]
}
export type HoldState = {
  holdId: string
  customerId: string
  tokenHash: string
  /** A lapsed hold is shown EXPIRED although nobody has tidied it. */
  status: HoldStatus
  seats: string[]
  pools: PoolQuantity[]
  amountMinor: number
  currency: string
  quote: unknown
  expiresAt: string
  extensions: number
  bookingId: string | null
  asOf: string
}

/** What a request weighs on its customer's limit: its seats, else its quantities (a seat's fare class counts the same person twice). */
export function holdUnits({ seats, pools }: { seats: string[]; pools?: PoolQuantity[] }): number {
  return Math.max(seats.length, pools?.reduce((sum, pool) => sum + pool.quantity, 0) ?? 0)
}

export interface SeatStore {
  /** Puts an inventory on sale with every seat AVAILABLE, at version 1. Answers its id. */
  open(inventory: NewInventory): Promise<number>
  /**
   * Decides a batch, in order of arrival, in one transaction; answers one outcome a request, in the same order.
   * Requests that share a seat, or a customer of one inventory, with an earlier one must be marked in `judgeOnly` (by index): they are refused or
   * DEFERRED, never granted. Two grantable requests that name one seat make the whole batch throw, with nothing written.
   */
  place(requests: PlaceRequest[], judgeOnly?: ReadonlySet<number>): Promise<PlaceOutcome[]>
  /** The customer's extension: to now + addMs, at most extensionsMax times, never beyond the hold's longest life. */
  extend(inventoryId: number, holdId: string, addMs: number, extensionsMax: number): Promise<ExtendOutcome>
  /** HELD -> CHECKED_OUT, once, with the end moved to now + addMs where that is later. */
  checkOut(inventoryId: number, holdId: string, addMs: number): Promise<ExtendOutcome>
  release(inventoryId: number, holdId: string): Promise<ReleaseOutcome>
  /** CHECKED_OUT -> BOOKED with every seat and quantity, or nothing. */
  confirm(inventoryId: number, holdId: string, bookingId: string): Promise<ConfirmOutcome>
  /** Puts a booking's named seats and quantities (both absent: all it has) back on sale. */
  cancel(
    inventoryId: number,
    bookingId: string,
    lines?: { seats: string[]; pools: PoolQuantity[] },
  ): Promise<CancelOutcome>
  /** Tidies lapsed holds, for history and display only. Answers how many. */
  expire(inventoryId: number): Promise<number>
  block(inventoryId: number, seats: string[], by: string, reason: string): Promise<BlockOutcome>
  unblock(inventoryId: number, seats: string[]): Promise<BlockOutcome>
  /** Null when there is no such inventory. */
  read(inventoryId: number): Promise<InventoryState | null>
  readHold(inventoryId: number, holdId: string): Promise<HoldState | null>
}
