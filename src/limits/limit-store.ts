// What a store of limits remembers: who tried when within the last minute, and which seats somebody held and gave up again. One in memory, one in Redis;
// store.contract.test.ts holds both to the same answers.

/** Attempts are counted over the last minute, exact at both ends: an attempt made at 0 counts until 59,999 ms. */
export const ATTEMPTS_WINDOW_MS = 60_000
/** Whoever let the same seat go this often ... */
export const GIVEN_UP_MAX = 3
/** ... within this time waits until the first of them is older. */
export const GIVEN_UP_WINDOW_MS = 1_800_000

export type Taken = {
  /** 0: the attempt is allowed and counted. A refused one is not counted, so that trying does not make the wait longer. */
  waitMs: number
  left: number
  /** Until the oldest attempt that counts is forgotten. */
  resetMs: number
}

/** Sessions are free to open, so a seat's history is kept by customer and by address; null for partners, whose customers share one. */
export type Holder = { customerId: string; network: string | null }

/** Memory answers at once, Redis by a promise that rejects when it cannot. */
export type LimitStore = {
  take(who: string, max: number): Taken | Promise<Taken>
  /** These seats, or null: all of the show, that this customer or address has given up too often -> ms until it may hold them again. */
  cooling(inventoryId: number, holder: Holder, seats: readonly string[] | null): Cooling | Promise<Cooling>
  /** Granted until `forMs` from now. A seat the customer still had goes on; one they had and do not have now is given up. */
  held(inventoryId: number, holder: Holder, seats: readonly string[], forMs: number): void | Promise<void>
  letGo(inventoryId: number, holder: Holder, seats: readonly string[]): void | Promise<void>
}

export type Cooling = ReadonlyMap<string, number>
