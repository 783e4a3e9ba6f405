// Grants a batch of hold requests in the memory store: judged together, written together, or not at all.
import {
  byCode,
  endHolds,
  expireLapsed,
  type MemoryHold,
  type MemoryInventory,
  poolOf,
  timeText,
} from './memory-inventory.ts'
import { type Judgement, judgeBatch } from './memory-judge.ts'
import { holdUnits, type PlaceOutcome, type PlaceRequest } from './seat-store.ts'

/** One outcome a request, in their order. Throws, with nothing changed, when two requests that may win name one seat. */
export function placeBatch(
  inventories: Map<number, MemoryInventory>,
  requests: PlaceRequest[],
  judgeOnly: ReadonlySet<number>,
  nowUs: number,
): PlaceOutcome[] {
  // The batch works on copies, so that one broken request leaves everything as it was.
  const copies = new Map<number, MemoryInventory>()
  for (const { inventoryId } of requests) {
    const inventory = inventories.get(inventoryId)
    if (inventory && !copies.has(inventoryId)) copies.set(inventoryId, structuredClone(inventory))
  }
  for (const copy of copies.values()) expireLapsed(copy, nowUs)
  const judgements = judgeBatch(copies, requests, judgeOnly, nowUs)
  const outcomes = grantBatch(copies, requests, judgements, nowUs)
  for (const [id, copy] of copies) inventories.set(id, copy)
  return outcomes
}

// Replaced holds go first, then every winner takes its seats: as one change an inventory, however many won.
function grantBatch(
  inventories: ReadonlyMap<number, MemoryInventory>,
  requests: PlaceRequest[],
  judgements: Judgement[],
  nowUs: number,
): PlaceOutcome[] {
  const winners = requests.flatMap((request, index) => {
    const judgement = judgements[index]
    const inventory = inventories.get(request.inventoryId)
    return judgement?.outcome === 'HELD' && inventory ? { request, judgement, inventory } : []
  })
  for (const { inventory, judgement } of winners) endHolds(inventory, judgement.replaced, 'RELEASED')
  for (const { inventory, request, judgement } of winners) grant(inventory, request, judgement, nowUs)
  for (const inventory of new Set(winners.map((winner) => winner.inventory))) inventory.version += 1
  return requests.map((request, index) =>
    outcomeOf(request, judgements[index], inventories.get(request.inventoryId), nowUs),
  )
}

function grant(inventory: MemoryInventory, request: PlaceRequest, { lifeEndsAtUs }: Judgement, nowUs: number): void {
  const { holdId, seats, pools = [], ttlMs } = request
  if (inventory.holds.has(holdId)) throw new Error(`there is a hold ${holdId} already`)
  for (const code of seats) {
    const seat = inventory.seats.get(code)
    if (seat?.status !== 'AVAILABLE') throw new Error(`two requests of one batch name seat ${code}`)
    Object.assign(seat, { status: 'HELD', holdId })
  }
  for (const { code, quantity } of pools) {
    if (!Number.isInteger(quantity) || quantity < 1) throw new RangeError(`a quantity of ${quantity} in pool ${code}`)
    poolOf(inventory, code).held += quantity
  }
  inventory.holds.set(holdId, {
    ...request,
    pools,
    status: 'HELD',
    units: holdUnits(request),
    expiresAtUs: Math.min(nowUs + ttlMs * 1000, lifeEndsAtUs),
    lifeEndsAtUs,
    extensions: 0,
    bookingId: null,
  })
}

function outcomeOf(
  { holdId, unitsMax = 0 }: PlaceRequest,
  judgement: Judgement | undefined,
  inventory: MemoryInventory | undefined,
  nowUs: number,
): PlaceOutcome {
  const decidedAt = timeText(nowUs)
  if (!judgement) throw new Error('a request was not judged')
  const { outcome, blocking, countedUnits, same, replaced } = judgement
  const hold: MemoryHold | null | undefined = same ?? inventory?.holds.get(holdId)
  switch (outcome) {
    case 'HELD':
    case 'SAME': {
      if (!hold) throw new Error(`hold ${holdId} was granted and is not there`)
      const placed = { holdId: hold.holdId, expiresAt: timeText(hold.expiresAtUs), decidedAt }
      const replacedSeats = replaced.flatMap(({ seats }) => seats).sort()
      return outcome === 'HELD' && replacedSeats.length > 0
        ? { outcome, ...placed, replacedSeats }
        : { outcome, ...placed }
    }
    case 'UNAVAILABLE':
      return { outcome, blocking: blocking.sort(byCode), decidedAt }
    case 'LIMIT':
      return { outcome, unitsMax, countedUnits, decidedAt }
    default:
      return { outcome, decidedAt }
  }
}
