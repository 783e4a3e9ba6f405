// The seat store of one process, without a database: the reference model of the product's, and what examples and the browser run on.
// JavaScript runs one call at a time, so each call is a transaction by itself and an inventory's lock needs no code.
import {
  byCode,
  endHolds,
  expireLapsed,
  hasLapsed,
  type MemoryInventory,
  poolOf,
  seatsOf,
  timeText,
  timeUs,
} from './memory-inventory.ts'
import { placeBatch } from './memory-place.ts'
import type { Blocking, ExtendOutcome, SeatStore } from './seat-store.ts'

const NOBODY: ReadonlySet<number> = new Set()

/** `now` answers microseconds since 1970, whole. */
export function memoryStore({ now }: { now: () => number }): SeatStore {
  const inventories = new Map<number, MemoryInventory>()

  // What every write does first. An unknown inventory is an empty one that nobody keeps.
  function enter(inventoryId: number): { inventory: MemoryInventory; nowUs: number; decidedAt: string } {
    const inventory = inventories.get(inventoryId) ?? emptyInventory(inventoryId)
    const nowUs = now()
    expireLapsed(inventory, nowUs)
    return { inventory, nowUs, decidedAt: timeText(nowUs) }
  }

  function moveEnd(inventoryId: number, holdId: string, addMs: number, extensionsMax: number | null): ExtendOutcome {
    const { inventory, nowUs, decidedAt } = enter(inventoryId)
    const hold = inventory.holds.get(holdId)
    if (!hold) return { outcome: 'NOT_FOUND', status: null, expiresAt: null, decidedAt }
    const answer = (outcome: ExtendOutcome['outcome']): ExtendOutcome => {
      return { outcome, status: hold.status, expiresAt: timeText(hold.expiresAtUs), decidedAt }
    }
    if (hold.status === 'EXPIRED') return answer('EXPIRED')
    if (hold.status !== 'HELD') return answer('NOT_HELD')
    const atItsEnd = hold.expiresAtUs >= hold.lifeEndsAtUs
    if (extensionsMax !== null && (hold.extensions >= extensionsMax || atItsEnd)) return answer('EXTENSION_LIMIT')
    seatsOf(inventory, hold)
    hold.expiresAtUs = Math.max(hold.expiresAtUs, Math.min(nowUs + addMs * 1000, hold.lifeEndsAtUs))
    if (extensionsMax === null) hold.status = 'CHECKED_OUT'
    else hold.extensions += 1
    inventory.version += 1
    return answer('EXTENDED')
  }

  function moveBlocks(inventoryId: number, codes: string[], from: 'AVAILABLE' | 'BLOCKED'): Blocking[] {
    const { inventory } = enter(inventoryId)
    const blocking = codes.flatMap((code): Blocking[] => {
      const seat = inventory.seats.get(code)
      if (!seat) return [{ code, reason: 'unknown' }]
      return seat.status === from ? [] : [{ code, reason: seat.status.toLowerCase() as Lowercase<typeof seat.status> }]
    })
    if (blocking.length > 0) return blocking.sort(byCode)
    for (const code of codes)
      Object.assign(inventory.seats.get(code) ?? {}, { status: from === 'AVAILABLE' ? 'BLOCKED' : 'AVAILABLE' })
    inventory.version += 1
    return []
  }

  return {
    async open({ seats, pools = [], saleOpensAt, saleClosesAt }) {
      const inventory = emptyInventory(inventories.size + 1)
      inventory.version = 1
      inventory.saleOpensAtUs = saleOpensAt ? timeUs(saleOpensAt) : -Infinity
      inventory.saleClosesAtUs = saleClosesAt ? timeUs(saleClosesAt) : Infinity
      for (const code of seats) inventory.seats.set(code, { status: 'AVAILABLE', holdId: null, bookingId: null })
      for (const { code, capacity, overbookLimit = 0 } of pools)
        inventory.pools.set(code, { capacity, overbookLimit, held: 0, sold: 0 })
      inventories.set(inventory.id, inventory)
      return inventory.id
    },

    async place(requests, judgeOnly = NOBODY) {
      return placeBatch(inventories, requests, judgeOnly, now())
    },

    extend: async (inventoryId, holdId, addMs, extensionsMax) => moveEnd(inventoryId, holdId, addMs, extensionsMax),
    checkOut: async (inventoryId, holdId, addMs) => moveEnd(inventoryId, holdId, addMs, null),

    async release(inventoryId, holdId) {
      const { inventory, decidedAt } = enter(inventoryId)
      const hold = inventory.holds.get(holdId)
      const status = hold?.status ?? null
      if (!hold) return { outcome: 'NOT_FOUND', status, decidedAt }
      if (status === 'BOOKED') return { outcome: 'BOOKED', status, decidedAt }
      return { outcome: endHolds(inventory, [hold], 'RELEASED') > 0 ? 'RELEASED' : 'ENDED', status, decidedAt }
    },

    async confirm(inventoryId, holdId, bookingId) {
      const { inventory, decidedAt } = enter(inventoryId)
      const hold = inventory.holds.get(holdId)
      if (!hold) return { outcome: 'NOT_FOUND', status: null, bookingId: null, decidedAt }
      const { status } = hold
      if (status === 'BOOKED') return { outcome: 'ALREADY_BOOKED', status, bookingId: hold.bookingId, decidedAt }
      if (status === 'EXPIRED') return { outcome: 'EXPIRED', status, bookingId: null, decidedAt }
      if (status !== 'CHECKED_OUT') return { outcome: 'NOT_HELD', status, bookingId: null, decidedAt }
      for (const seat of seatsOf(inventory, hold)) Object.assign(seat, { status: 'BOOKED', holdId: null, bookingId })
      for (const { code, quantity } of hold.pools) {
        const pool = poolOf(inventory, code)
        pool.held -= quantity
        pool.sold += quantity
      }
      inventory.bookedPools.set(bookingId, new Map(hold.pools.map(({ code, quantity }) => [code, quantity])))
      Object.assign(hold, { status: 'BOOKED', bookingId })
      inventory.version += 1
      return { outcome: 'BOOKED', status: 'BOOKED', bookingId, decidedAt }
    },

    async cancel(inventoryId, bookingId, lines) {
      const { inventory, decidedAt } = enter(inventoryId)
      const booked = [...inventory.seats].filter(([, seat]) => seat.bookingId === bookingId)
      const bookedPools = inventory.bookedPools.get(bookingId) ?? new Map<string, number>()
      const seats = lines?.seats ?? booked.map(([code]) => code)
      const pools = lines?.pools ?? [...bookedPools].map(([code, quantity]) => ({ code, quantity }))
      const isTheirs =
        seats.every((code) => inventory.seats.get(code)?.bookingId === bookingId) &&
        pools.every(({ code, quantity }) => quantity >= 1 && quantity <= (bookedPools.get(code) ?? 0))
      if (!isTheirs || seats.length + pools.length === 0)
        return { outcome: 'NOT_BOOKED', freedSeats: [], seatsLeft: null, poolUnitsLeft: null, decidedAt }

      for (const code of seats) Object.assign(inventory.seats.get(code) ?? {}, { status: 'AVAILABLE', bookingId: null })
      for (const { code, quantity } of pools) {
        poolOf(inventory, code).sold -= quantity
        bookedPools.set(code, (bookedPools.get(code) ?? 0) - quantity)
      }
      const seatsLeft = booked.length - seats.length
      const poolUnitsLeft = [...bookedPools.values()].reduce((sum, quantity) => sum + quantity, 0)
      for (const hold of inventory.holds.values())
        if (hold.bookingId === bookingId) hold.units = Math.max(seatsLeft, poolUnitsLeft)
      inventory.version += 1
      return { outcome: 'CANCELLED', freedSeats: [...seats].sort(), seatsLeft, poolUnitsLeft, decidedAt }
    },

    async expire(inventoryId) {
      const inventory = inventories.get(inventoryId)
      return inventory ? expireLapsed(inventory, now()) : 0
    },

    // Who blocked a seat and why is kept for the audit of a database; nothing here could read it.
    async block(inventoryId, seats) {
      const blocking = moveBlocks(inventoryId, seats, 'AVAILABLE')
      return { outcome: blocking.length > 0 ? 'UNAVAILABLE' : 'BLOCKED', blocking }
    },

    async unblock(inventoryId, seats) {
      const blocking = moveBlocks(inventoryId, seats, 'BLOCKED')
      return { outcome: blocking.length > 0 ? 'UNAVAILABLE' : 'UNBLOCKED', blocking }
    },

    async read(inventoryId) {
      const inventory = inventories.get(inventoryId)
      if (!inventory) return null
      const nowUs = now()
      // Reading shows lapsed holds as over without tidying them: a reader changes nothing.
      const shown = structuredClone(inventory)
      expireLapsed(shown, nowUs)
      const endOf = (holdId: string | null) => (holdId ? timeText(shown.holds.get(holdId)?.expiresAtUs ?? nowUs) : null)
      const seats = [...shown.seats].map(([code, seat]) => ({ code, ...seat, expiresAt: endOf(seat.holdId) }))
      const pools = [...shown.pools].map(([code, pool]) => ({ code, ...pool }))
      const { version } = inventory
      return { inventoryId, version, asOf: timeText(nowUs), seats: seats.sort(byCode), pools: pools.sort(byCode) }
    },

    async readHold(inventoryId, holdId) {
      const hold = inventories.get(inventoryId)?.holds.get(holdId)
      if (!hold) return null
      const nowUs = now()
      const { customerId, tokenHash, seats, amountMinor, currency, quote, extensions, bookingId } = hold
      const status = hasLapsed(hold, nowUs) ? 'EXPIRED' : hold.status
      const pools = hold.pools.toSorted(byCode)
      const times = { expiresAt: timeText(hold.expiresAtUs), asOf: timeText(nowUs) }
      return {
        holdId,
        customerId,
        tokenHash,
        status,
        seats,
        pools,
        amountMinor,
        currency,
        quote,
        extensions,
        bookingId,
        ...times,
      }
    },
  }
}

function emptyInventory(id: number): MemoryInventory {
  const unsold = { seats: new Map(), pools: new Map(), holds: new Map(), bookedPools: new Map() }
  return { id, version: 0, saleOpensAtUs: -Infinity, saleClosesAtUs: Infinity, ...unsold }
}
