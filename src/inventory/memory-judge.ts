// Judges a batch of hold requests for the memory store: every request against the inventories as they are before the batch, writing nothing.
import type { MemoryHold, MemoryInventory, MemorySeat } from './memory-inventory.ts'
import { type Blocking, holdUnits, type PlaceOutcome, type PlaceRequest, type PoolQuantity } from './seat-store.ts'

export type Judgement = {
  outcome: PlaceOutcome['outcome']
  blocking: Blocking[]
  /** What the customer has here besides the holds that would be replaced. */
  countedUnits: number
  same: MemoryHold | null
  /** The customer's own HELD holds, released if this one is granted. */
  replaced: MemoryHold[]
  lifeEndsAtUs: number
}

/** Room left in each pool, counted down as the batch's requests are let in one after another: `inventoryId/code` -> units. */
type Rooms = Map<string, number>

export function judgeBatch(
  inventories: ReadonlyMap<number, MemoryInventory>,
  requests: PlaceRequest[],
  judgeOnly: ReadonlySet<number>,
  nowUs: number,
): Judgement[] {
  const roomsBefore: Rooms = new Map()
  for (const { id, pools } of inventories.values())
    for (const [code, { capacity, overbookLimit, held, sold }] of pools)
      roomsBefore.set(`${id}/${code}`, capacity + overbookLimit - held - sold)
  const rooms: Rooms = new Map(roomsBefore)
  return requests.map((request, index) => {
    const inventory = inventories.get(request.inventoryId)
    const mayWin = !judgeOnly.has(index)
    const judgement = judge(inventory, request, mayWin, nowUs)
    // Who may not win now is asked again: only what stood in the way before this batch may refuse them.
    if (request.pools?.length) enterPools(request, request.pools, judgement, mayWin ? rooms : roomsBefore)
    return judgement
  })
}

function judge(
  inventory: MemoryInventory | undefined,
  request: PlaceRequest,
  mayWin: boolean,
  nowUs: number,
): Judgement {
  const own = [...(inventory?.holds.values() ?? [])].filter((hold) => hold.customerId === request.customerId)
  const replaced = own.filter(({ status }) => status === 'HELD')
  const kept = own.filter(({ status }) => status === 'CHECKED_OUT' || status === 'BOOKED')
  const same = [...replaced, ...kept].find((hold) => hold.status !== 'BOOKED' && keepsExactly(hold, request)) ?? null
  const blocking = request.seats.flatMap((code) => blockingSeat(code, inventory?.seats.get(code), replaced, kept) ?? [])
  const countedUnits = kept.reduce((sum, { units }) => sum + units, 0)
  // Swapping seats never restarts the bounded total life.
  const lives = replaced.filter((hold) => overlaps(hold, request)).map(({ lifeEndsAtUs }) => lifeEndsAtUs)
  const lifeEndsAtUs = lives.length > 0 ? Math.min(...lives) : nowUs + request.lifeMs * 1000
  const outcome = (): PlaceOutcome['outcome'] => {
    if (!inventory) return 'NOT_FOUND'
    if (same) return 'SAME'
    if (nowUs >= inventory.saleClosesAtUs) return 'CLOSED'
    if (nowUs < inventory.saleOpensAtUs) return 'NOT_OPEN'
    if (blocking.length > 0) return 'UNAVAILABLE'
    if (request.unitsMax !== undefined && request.unitsMax < countedUnits + holdUnits(request)) return 'LIMIT'
    return mayWin ? 'HELD' : 'DEFERRED'
  }
  return { outcome: outcome(), blocking, countedUnits, same, replaced, lifeEndsAtUs }
}

function blockingSeat(
  code: string,
  seat: MemorySeat | undefined,
  replaced: MemoryHold[],
  kept: MemoryHold[],
): Blocking | null {
  if (!seat) return { code, reason: 'unknown' }
  if (seat.status === 'AVAILABLE' || replaced.some(({ holdId }) => holdId === seat.holdId)) return null
  if (seat.status === 'BOOKED') return { code, reason: 'booked' }
  if (seat.status === 'BLOCKED') return { code, reason: 'blocked' }
  return { code, reason: kept.some(({ holdId }) => holdId === seat.holdId) ? 'yours' : 'held' }
}

// A request that does not fit leaves the room to later, smaller ones; one that is granted gives back what its replaced hold kept.
function enterPools(request: PlaceRequest, lines: PoolQuantity[], judgement: Judgement, rooms: Rooms): void {
  if (!['HELD', 'DEFERRED', 'UNAVAILABLE', 'LIMIT'].includes(judgement.outcome)) return
  const keyOf = (code: string) => `${request.inventoryId}/${code}`
  const back = judgement.replaced.flatMap(({ pools }) => pools)
  for (const { code, quantity } of lines) {
    const room = rooms.get(keyOf(code))
    const own = back.filter((line) => line.code === code).reduce((sum, line) => sum + line.quantity, 0)
    if (room !== undefined && room + own >= quantity) continue
    judgement.outcome = 'UNAVAILABLE'
    judgement.blocking.push({ code, reason: room === undefined ? 'unknown' : 'sold_out' })
  }
  if (judgement.outcome !== 'HELD') return
  for (const { code, quantity } of lines) rooms.set(keyOf(code), (rooms.get(keyOf(code)) ?? 0) - quantity)
  for (const { code, quantity } of back) rooms.set(keyOf(code), (rooms.get(keyOf(code)) ?? 0) + quantity)
}

function keepsExactly(hold: MemoryHold, { seats, pools = [], quote }: PlaceRequest): boolean {
  const wanted = new Set(seats)
  const quantities = new Map(pools.map(({ code, quantity }) => [code, quantity]))
  return (
    hold.seats.length === wanted.size &&
    hold.seats.every((code) => wanted.has(code)) &&
    hold.pools.length === quantities.size &&
    hold.pools.every(({ code, quantity }) => quantities.get(code) === quantity) &&
    ticketsOf(hold.quote) === ticketsOf(quote)
  )
}

function ticketsOf(quote: unknown): unknown {
  return quote !== null && typeof quote === 'object' && 'tickets' in quote ? quote.tickets : undefined
}

// A request for quantities alone takes over from any own hold: units of a pool have no names to compare.
function overlaps(hold: MemoryHold, { seats, pools = [] }: PlaceRequest): boolean {
  return seats.length === 0 ? pools.length > 0 : hold.seats.some((code) => seats.includes(code))
}
