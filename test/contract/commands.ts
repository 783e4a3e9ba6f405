// Random commands for a seat store, and how each is asked of it. The same list against two stores must give the same answers, word by word.
import fc from 'fast-check'
import type { PlaceRequest, PoolQuantity, SeatStore } from '#inventory/seat-store.ts'
import { later, requestOf } from './ground.ts'

type Wish = {
  inventory: number
  customer: number
  seats: string[]
  pools: PoolQuantity[]
  ttlMs: number
  unitsMax?: number
}

/** Inventories, holds and bookings are named by their number: holds from the latest backwards, for it is they that still live. */
export type Command =
  | { kind: 'place'; wishes: Wish[]; careless: boolean }
  | { kind: 'extend' | 'checkOut'; hold: number; addMs: number }
  | { kind: 'release' | 'confirm' | 'readHold'; hold: number }
  /** Checked out and confirmed in one breath: by chance alone hardly anything would ever be sold. */
  | { kind: 'sell'; hold: number }
  /** All of a booking, or so many of its seats, perhaps a strange one, and some quantities. */
  | { kind: 'cancel'; hold: number; lines?: { ownSeats: number; strangeSeats: string[]; pools: PoolQuantity[] } }
  | { kind: 'expire'; inventory: number }
  | { kind: 'block' | 'unblock'; inventory: number; seats: string[] }
  | { kind: 'wait'; ms: number }
  /** To a hold's end, or a microsecond before or after it. */
  | { kind: 'waitForEnd'; hold: number; us: number }

export const SEATS = ['F1', 'F2', 'F3', 'F4', 'F5', 'F6']
export const POOLS = [
  { code: 'GA', capacity: 4, overbookLimit: 1 },
  { code: 'VIP', capacity: 1 },
]
const LIFE_MS = 900_000

const nth = fc.nat(3)
const inventory = fc.nat(1)
const someSeats = fc.subarray([...SEATS, 'Z9'], { maxLength: 4 })
const somePools = fc.array(
  fc.record({ code: fc.constantFrom('GA', 'GA', 'VIP', 'XX'), quantity: fc.integer({ min: 1, max: 4 }) }),
  { maxLength: 2 },
)

const wish: fc.Arbitrary<Wish> = fc
  .record(
    {
      inventory,
      customer: fc.nat(3),
      seats: fc.oneof(
        { weight: 4, arbitrary: fc.subarray(SEATS, { minLength: 1, maxLength: 3 }) },
        { weight: 1, arbitrary: someSeats },
      ),
      pools: fc.oneof(
        { weight: 2, arbitrary: fc.constant<PoolQuantity[]>([]) },
        { weight: 1, arbitrary: somePools.map(distinct) },
      ),
      ttlMs: fc.constantFrom(60_000, 300_000, 600_000),
      unitsMax: fc.constantFrom(3, 4, 8),
    },
    { requiredKeys: ['inventory', 'customer', 'seats', 'pools', 'ttlMs'] },
  )
  .filter(({ seats, pools }) => seats.length + pools.length > 0)

export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('place' as const),
      wishes: fc.array(wish, { minLength: 1, maxLength: 4 }),
      careless: fc.nat(9).map((n) => n === 0),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('extend' as const, 'checkOut', 'checkOut'),
      hold: nth,
      addMs: fc.constantFrom(0, 1, 60_000, 600_000, 1_200_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('release' as const, 'confirm', 'confirm', 'confirm', 'readHold'),
      hold: nth,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        kind: fc.constant('cancel' as const),
        hold: nth,
        lines: fc.record({
          ownSeats: fc.nat(2),
          strangeSeats: fc.subarray(['F1', 'Z9'], { maxLength: 1 }),
          pools: fc.oneof(fc.constant<PoolQuantity[]>([]), somePools.map(distinct)),
        }),
      },
      { requiredKeys: ['kind', 'hold'] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sell' as const), hold: nth }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), inventory }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('block' as const, 'unblock'),
      inventory,
      seats: fc.constantFrom<string[][]>(['F6'], ['F6'], ['F5', 'F6'], ['F6', 'Z9']),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 30_000, 120_000, 400_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('waitForEnd' as const), hold: nth, us: fc.constantFrom(-1, 0, 0, 1) }),
  },
)

/** One store's side of a run: its own inventory ids, the run's common hold ids. */
export type Side = { store: SeatStore; inventoryIds: number[] }

export type RunHold = { inventory: number; holdId: string; bookingId: string; seats: string[] }

/** Answers what the store said; a refusal to work at all is said as 'threw'. `wait` changes the clock and is not for a store. */
export async function ask(
  { store, inventoryIds }: Side,
  command: Command,
  holds: RunHold[],
  newHolds: RunHold[],
): Promise<unknown> {
  const idOf = (inventory: number) => inventoryIds[inventory % inventoryIds.length] ?? 0
  if ('wishes' in command) {
    const requests = command.wishes.map((one, index) =>
      placeRequest(one, idOf(one.inventory), newHolds[index]?.holdId ?? ''),
    )
    return store
      .place(requests, command.careless ? sharersOfCustomers(requests) : sharers(requests))
      .catch(() => 'threw')
  }
  if (command.kind === 'expire') return store.expire(idOf(command.inventory))
  if (command.kind === 'block') return store.block(idOf(command.inventory), command.seats, 'manager', 'test')
  if (command.kind === 'unblock') return store.unblock(idOf(command.inventory), command.seats)
  const hold = 'hold' in command ? holds.at(-1 - command.hold) : undefined
  if (!hold) return null
  const { holdId, bookingId } = hold
  const id = idOf(hold.inventory)
  switch (command.kind) {
    case 'extend':
      return store.extend(id, holdId, command.addMs, 1)
    case 'checkOut':
      return store.checkOut(id, holdId, command.addMs)
    case 'release':
      return store.release(id, holdId)
    case 'confirm':
      return store.confirm(id, holdId, bookingId)
    case 'sell':
      return [await store.checkOut(id, holdId, 0), await store.confirm(id, holdId, bookingId)]
    case 'cancel':
      return store.cancel(id, bookingId, command.lines && cancelledLines(command.lines, hold))
    case 'readHold':
      return store.readHold(id, holdId)
    default:
      return null
  }
}

/** Where the clock stands after a command. */
export async function timeAfter(
  command: Command,
  now: string,
  holds: RunHold[],
  { store, inventoryIds }: Side,
): Promise<string> {
  if (command.kind === 'wait') return later(now, command.ms)
  if (command.kind !== 'waitForEnd') return now
  const hold = holds.at(-1 - command.hold)
  const state = hold && (await store.readHold(inventoryIds[hold.inventory] ?? 0, hold.holdId))
  const end = state ? later(state.expiresAt, 0, command.us) : now
  return end > now ? end : now
}

function placeRequest({ customer, inventory: _, ...wish }: Wish, inventoryId: number, holdId: string): PlaceRequest {
  return requestOf({ ...wish, inventoryId, holdId, customerId: `customer-${customer}`, lifeMs: LIFE_MS })
}

function cancelledLines(
  lines: { ownSeats: number; strangeSeats: string[]; pools: PoolQuantity[] },
  { seats }: RunHold,
) {
  return { seats: [...new Set([...seats.slice(0, lines.ownSeats), ...lines.strangeSeats])], pools: lines.pools }
}

// What the combiner does: who shares a seat or the customer with an earlier request of the batch may not win now.
function sharers(requests: PlaceRequest[]): Set<number> {
  const earlier = (index: number) =>
    requests.slice(0, index).filter(({ inventoryId }) => inventoryId === requests[index]?.inventoryId)
  const shares = ({ customerId, seats }: PlaceRequest, index: number) =>
    earlier(index).some((other) => other.customerId === customerId || other.seats.some((seat) => seats.includes(seat)))
  return new Set(requests.flatMap((request, index) => (shares(request, index) ? [index] : [])))
}

// A careless caller forgets the seats: the store has to notice.
function sharersOfCustomers(requests: PlaceRequest[]): Set<number> {
  return sharers(requests.map((request) => ({ ...request, seats: [] })))
}

function distinct(lines: PoolQuantity[]): PoolQuantity[] {
  return [...new Map(lines.map((line) => [line.code, line])).values()]
}
