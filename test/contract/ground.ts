// The ground the seat store's facts stand on: a store, a clock that stands still until it is moved, and short words for what is asked.
import { randomUUID } from 'node:crypto'
import { memoryStore } from '#inventory/memory-store.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import type { NewInventory, PlaceRequest, SeatStore } from '#inventory/seat-store.ts'
import type { TestDatabase } from '#test/support/database.ts'

export type Ground = {
  store: SeatStore
  /** Where the clock stands. */
  now: () => string
  /** Moves the clock to this time. */
  at: (time: string) => Promise<void>
}

/** One sentence that is true of every seat store; `check` throws where it is not. */
export type Fact = { name: string; check: (ground: Ground) => Promise<void> }

export const START = '2031-05-06T07:08:09.123456Z'
export const HOLD_TTL_MS = 600_000
export const HOLD_LIFE_MS = 1_800_000

export function memoryGround(): Ground {
  let now = START
  const store = memoryStore({ now: () => micros(now) })
  return {
    store,
    now: () => now,
    at: async (time) => {
      now = time
    },
  }
}

export async function postgresGround(db: TestDatabase): Promise<Ground> {
  let now = await db.freezeClock(START)
  return {
    store: postgresStore(db.sql),
    now: () => now,
    at: async (time) => {
      now = await db.freezeClock(time)
    },
  }
}

/** `time` and so many milliseconds and microseconds more. */
export function later(time: string, ms: number, us = 0): string {
  const total = micros(time) + ms * 1000 + us
  const wholeMs = Math.floor(total / 1000)
  return new Date(wholeMs).toISOString().replace('Z', `${String(total - wholeMs * 1000).padStart(3, '0')}Z`)
}

/** Microseconds since 1970 of a time with six decimals. */
export function micros(time: string): number {
  return Date.parse(`${time.slice(0, -4)}Z`) * 1000 + Number(time.slice(-4, -1))
}

/** What a customer asks for; a hold id and a price nobody looks at come by themselves. */
export type Wish = Pick<PlaceRequest, 'inventoryId' | 'customerId'> & Partial<PlaceRequest>

export function requestOf(wish: Wish): PlaceRequest {
  return {
    holdId: randomUUID(),
    tokenHash: 'ab'.repeat(32),
    ttlMs: HOLD_TTL_MS,
    lifeMs: HOLD_LIFE_MS,
    seats: [],
    amountMinor: 1_400,
    currency: 'EUR',
    quote: { currency: 'EUR', totalMinor: 1_400, lines: [] },
    ...wish,
  }
}

export async function place({ store }: Ground, wish: Wish) {
  const [outcome] = await store.place([requestOf(wish)])
  if (!outcome) throw new Error('no outcome')
  return outcome
}

/** The id of the hold that this wish must be granted. */
export async function hold(ground: Ground, wish: Wish): Promise<string> {
  const outcome = await place(ground, wish)
  if (outcome.outcome !== 'HELD') throw new Error(`not granted: ${JSON.stringify(outcome)}`)
  return outcome.holdId
}

/** A hold, checked out and confirmed. */
export async function book(ground: Ground, wish: Wish): Promise<{ holdId: string; bookingId: string }> {
  const holdId = await hold(ground, wish)
  const bookingId = randomUUID()
  await ground.store.checkOut(wish.inventoryId, holdId, 0)
  const { outcome } = await ground.store.confirm(wish.inventoryId, holdId, bookingId)
  if (outcome !== 'BOOKED') throw new Error(`not booked: ${outcome}`)
  return { holdId, bookingId }
}

/** A row of seats F1 to F8, and what else is said. */
export function openRow({ store }: Ground, more: Partial<NewInventory> = {}): Promise<number> {
  return store.open({ seats: Array.from({ length: 8 }, (_, n) => `F${n + 1}`), ...more })
}

/** What anybody can see: `F1 HELD`, `GA 2+1/4` (held + sold / limit); free seats are left out. */
export async function glance({ store }: Ground, inventoryId: number): Promise<string> {
  const state = await store.read(inventoryId)
  const seats = state?.seats
    .filter(({ status }) => status !== 'AVAILABLE')
    .map(({ code, status }) => `${code} ${status}`)
  const pools = state?.pools.map((p) => `${p.code} ${p.held}+${p.sold}/${p.capacity + p.overbookLimit}`)
  return [...(seats ?? []), ...(pools ?? [])].join(', ')
}
