// A crowd after a few seats, through both doors, and a book of what each was told; what may never be in that book is found in it afterwards.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseSharded } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import { type PlacedHold, placeHold } from '#holds/place-hold.ts'
import { abandonHold } from '#payments/abandon-hold.ts'
import { chance } from '#test/races/processes.ts'
import type { Door } from './doors.ts'

export type Told = {
  customerId: string
  seats: string[]
  beganMs: number
  endedMs: number
  /** GATE is a refusal for which the database was not asked. */
  /** What the gate added to it, before the database was asked. */
  gateMs: number
  by: 'HELD' | 'REPEATED' | 'GATE' | 'DATABASE' | 'FAILED'
  inTheWay: string[]
}
/** Somebody had these seats from the answer on until they asked to give them back. */
export type Kept = { customerId: string; seats: string[]; fromMs: number; untilMs: number }
/** A key somebody planted for a free seat: until when it may be in the way. */
export type Planted = { seat: string; fromMs: number; untilMs: number }

export type Book = { told: Told[]; kept: Kept[]; planted: Planted[]; violations: string[] }
export type CrowdOrder = { inventoryId: number; seats: string[]; seed: number; clients: number }

// What a claim may take on its way before its time begins to run, with some air for a busy machine.
const CLAIM_SLACK_MS = 500

export function startCrowd(doors: Door[], { inventoryId, seats, seed, clients }: CrowdOrder) {
  const book: Book = { told: [], kept: [], planted: [], violations: [] }
  const below = chance(seed)
  let over = false
  const anyDoor = () => doors[below(doors.length)] as Door

  async function ask(customerId: string, wish: string[]): Promise<{ told: Told; hold: PlacedHold | null }> {
    const beganMs = performance.now()
    const told: Told = { customerId, seats: wish, beganMs, endedMs: 0, gateMs: 0, by: 'FAILED', inTheWay: [] }
    let asked = false
    const door = anyDoor()
    const combiner: Door['combiner'] = {
      ...door.combiner,
      place(request) {
        asked = true
        return door.combiner.place(request)
      },
    }
    const gate: Door['gate'] = {
      ...door.gate,
      async claim(...claimed) {
        const claim = await door.gate.claim(...claimed)
        told.gateMs = performance.now() - beganMs
        return claim
      },
    }
    const quote = { currency: 'EUR', totalMinor: 100, lines: [] }
    const order = { inventoryId, customerId, seats: wish, quote, unitsMax: null }
    const hold = await placeHold({ ...door, gate, combiner }, order).catch((error: unknown) => {
      if (!(error instanceof Problem && error.code === 'SEATS_UNAVAILABLE'))
        book.violations.push(`a buyer was answered with ${error}`)
      else {
        told.by = asked ? 'DATABASE' : 'GATE'
        told.inTheWay = (error.facts.seats as { code: string }[]).map(({ code }) => code)
      }
      return null
    })
    told.endedMs = performance.now()
    if (hold) told.by = hold.repeated ? 'REPEATED' : 'HELD'
    book.told.push(told)
    return { told, hold }
  }

  async function buyer(): Promise<void> {
    const customerId = randomUUID()
    const wish = [...new Set(Array.from({ length: 1 + below(3) }, () => seats[below(seats.length)] as string))]
    const { told, hold } = await ask(customerId, wish)
    if (!hold) return
    const kept: Kept = { customerId, seats: wish, fromMs: told.endedMs, untilMs: Number.POSITIVE_INFINITY }
    book.kept.push(kept)
    await sleep(below(60))
    // A reload of the page, through whichever door.
    const again = await ask(customerId, wish)
    if (again.told.by !== 'REPEATED')
      book.violations.push(`who asked again for the seats they hold was told ${again.told.by}`)
    await sleep(below(60))
    kept.untilMs = performance.now()
    const { uuid } = parseSharded('hold', hold.holdId)
    await abandonHold(anyDoor(), { inventoryId, holdId: uuid, customerId, seats: wish })
  }

  async function client(): Promise<void> {
    while (!over) {
      await buyer()
      await sleep(5 + below(15))
    }
  }

  const clientsGone = Promise.all(Array.from({ length: clients }, client))
  return {
    book,
    /** Lets everybody finish. */
    async stop(): Promise<Book> {
      over = true
      await clientsGone
      return book
    },
  }
}

/** S1 and R2 as the buyers saw them: a seat with one owner at a time, and no refusal by the gate without somebody who had been there within a claim's time. */
export function judge({ told, kept, planted, violations }: Book, claimTtlMs: number): string[] {
  const found = [...violations]
  for (const [at, one] of kept.entries())
    for (const other of kept.slice(at + 1)) {
      const shared = one.seats.filter((seat) => other.seats.includes(seat))
      if (shared.length > 0 && one.fromMs < other.untilMs && other.fromMs < one.untilMs)
        found.push(`${shared} had two owners at once`)
    }
  for (const refused of told.filter(({ by }) => by === 'GATE'))
    for (const seat of refused.inTheWay) {
      const reaches = (fromMs: number, untilMs: number) => fromMs <= refused.endedMs && untilMs >= refused.beganMs
      const rival = told.some(
        ({ customerId, seats, beganMs }) =>
          customerId !== refused.customerId &&
          seats.includes(seat) &&
          reaches(beganMs, beganMs + claimTtlMs + CLAIM_SLACK_MS),
      )
      if (!rival && !planted.some((key) => key.seat === seat && reaches(key.fromMs, key.untilMs)))
        found.push(`the gate refused ${seat}, and nobody had been after it`)
    }
  return found
}

export function p99(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * 0.99)] ?? Number.NaN
}
