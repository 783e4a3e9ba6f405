// One inventory as the memory store keeps it, and the three things that happen to holds: they live, they end, they lapse.
import type { HoldStatus, PlaceRequest, PoolQuantity, SeatStatus } from './seat-store.ts'

export type MemorySeat = { status: SeatStatus; holdId: string | null; bookingId: string | null }
export type MemoryPool = { capacity: number; overbookLimit: number; held: number; sold: number }

/** Times are microseconds since 1970: the product's clock has six decimals, and a Date only three. */
export type MemoryHold = Omit<PlaceRequest, 'pools'> & {
  pools: PoolQuantity[]
  status: HoldStatus
  /** What still weighs on the customer's limit; falls when booked seats are cancelled. */
  units: number
  expiresAtUs: number
  lifeEndsAtUs: number
  extensions: number
  bookingId: string | null
}

export type MemoryInventory = {
  id: number
  version: number
  saleOpensAtUs: number
  saleClosesAtUs: number
  seats: Map<string, MemorySeat>
  pools: Map<string, MemoryPool>
  holds: Map<string, MemoryHold>
  /** Quantities of active bookings: booking id -> pool code -> quantity. A booking's seats carry its id themselves. */
  bookedPools: Map<string, Map<string, number>>
}

/** HELD or CHECKED_OUT by its word; whether it has lapsed is a question of the clock. */
export function isOpen(hold: MemoryHold): boolean {
  return hold.status === 'HELD' || hold.status === 'CHECKED_OUT'
}

/** At its end exactly a hold is over. */
export function hasLapsed(hold: MemoryHold, nowUs: number): boolean {
  return isOpen(hold) && hold.expiresAtUs <= nowUs
}

/** Gives back everything that open holds keep, as one change; holds that are over already are left alone. Answers how many ended. */
export function endHolds(inventory: MemoryInventory, holds: MemoryHold[], status: 'RELEASED' | 'EXPIRED'): number {
  const ending = holds.filter(isOpen)
  if (ending.length === 0) return 0
  for (const hold of ending) {
    for (const seat of seatsOf(inventory, hold)) Object.assign(seat, { status: 'AVAILABLE', holdId: null })
    for (const { code, quantity } of hold.pools) poolOf(inventory, code).held -= quantity
    Object.assign(hold, { status, units: 0 })
  }
  inventory.version += 1
  return ending.length
}

/** Turns lapsed holds into history. Every write begins with it, so no decision ever meets a lapsed hold. */
export function expireLapsed(inventory: MemoryInventory, nowUs: number): number {
  const lapsed = [...inventory.holds.values()].filter((hold) => hasLapsed(hold, nowUs))
  return endHolds(inventory, lapsed, 'EXPIRED')
}

/** The seats an open hold keeps. One missing is a broken store, never a smaller hold. */
export function seatsOf(inventory: MemoryInventory, hold: MemoryHold): MemorySeat[] {
  return hold.seats.map((code) => {
    const seat = inventory.seats.get(code)
    if (seat?.status !== 'HELD' || seat.holdId !== hold.holdId) throw new Error(`hold ${hold.holdId} lost seat ${code}`)
    return seat
  })
}

export function poolOf(inventory: MemoryInventory, code: string): MemoryPool {
  const pool = inventory.pools.get(code)
  if (!pool) throw new Error(`inventory ${inventory.id} has no pool ${code}`)
  return pool
}

export function byCode(a: { code: string }, b: { code: string }): number {
  return a.code < b.code ? -1 : 1
}

/** RFC 3339 in UTC with microseconds, as the database writes it. */
export function timeText(us: number): string {
  const ms = Math.floor(us / 1000)
  return new Date(ms).toISOString().replace('Z', `${String(us - ms * 1000).padStart(3, '0')}Z`)
}

export function timeUs(text: string): number {
  const micros = /\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? ''
  return Date.parse(text.replace(/(\.\d{3})\d+/, '$1')) * 1000 + Number(micros.padEnd(3, '0'))
}
