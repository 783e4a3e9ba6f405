// The live picture of one inventory's seats in memory: follows the change rows in version order and lets lapsed holds turn free by the clock.
// Asks nobody and waits for nobody; seat-boards.ts brings it what happened. Names nobody either: whose hold it is stays in here.
import type { Blocking, SeatStatus } from './seat-store.ts'

/** Available, held, booked, blocked. */
export type SeatLetter = 'A' | 'H' | 'B' | 'X'
export const STATUS_OF = { A: 'AVAILABLE', H: 'HELD', B: 'BOOKED', X: 'BLOCKED' } as const
const LETTER_OF = { AVAILABLE: 'A', HELD: 'H', BOOKED: 'B', BLOCKED: 'X' } as const

/** Times are RFC 3339 texts of the database's clock. */
export type BoardRow = {
  version: number
  changedAt: string
  /** Of every seat, in the order of the codes as bytes. */
  codes: string[]
  /** As stored, lapsed holds still HELD. */
  letters: string
  heldCodes: string[]
  heldBy: string[]
  heldUntil: string[]
} & HoldOwners

/** Whose the holds named beside it are; parallel arrays. */
export type HoldOwners = { ownedHolds: string[]; owners: string[] }

export type ChangeRow = {
  version: number
  changedAt: string
  seatCodes: string[]
  seatStatuses: SeatStatus[]
  /** 'NULL' where there is none: the driver writes a null inside an array so. */
  seatHoldIds: string[]
  seatExpiresAt: string[]
}

/**
 * One step of the picture. Between two versions holds can only lapse, in the order of their ends, so version and count of lapsed holds name a
 * picture, in every process alike.
 */
export type BoardStep = {
  version: number
  lapsed: number
  /** Since when it is so: the change, or the end of the hold that lapsed. */
  asOf: string
  changes: { code: string; status: SeatStatus }[]
}

type Hold = { customerId: string; seats: Set<number>; end: string; endUs: number }

export type SeatBoard = ReturnType<typeof createSeatBoard>

// What a viewer who was away for a moment missed, and no more: who was away longer gets the whole picture.
const STEPS_KEPT = 512

/** `nowUs`: the database's clock when the row was read, microseconds since 1970. */
export function createSeatBoard(row: BoardRow, nowUs: number) {
  const places = new Map(row.codes.map((code, place) => [code, place]))
  const shown = [...row.letters] as SeatLetter[]
  const holdAt: (string | null)[] = row.codes.map(() => null)
  const holds = new Map<string, Hold>()
  const holdsOf = new Map<string, Set<string>>()
  let clockUs = nowUs
  let { version, changedAt } = row
  let lapsed = 0
  let asOf = changedAt
  const kept: BoardStep[] = []

  const owners = ownersOf(row)
  for (const [at, code] of row.heldCodes.entries())
    occupy(places.get(code) ?? -1, row.heldBy[at] ?? '', row.heldUntil[at] ?? '', owners)
  recount()
  keep({ version, lapsed, asOf, changes: [] })

  function occupy(place: number, holdId: string, end: string, known: Map<string, string>): void {
    const hold = holds.get(holdId) ?? { customerId: known.get(holdId) ?? '', seats: new Set(), end, endUs: 0 }
    hold.end = end
    hold.endUs = microseconds(end)
    hold.seats.add(place)
    holds.set(holdId, hold)
    holdAt[place] = holdId
    const own = holdsOf.get(hold.customerId)
    if (own) own.add(holdId)
    else holdsOf.set(hold.customerId, new Set([holdId]))
  }

  function vacate(place: number): void {
    const holdId = holdAt[place]
    const hold = holds.get(holdId ?? '')
    holdAt[place] = null
    if (!holdId || !hold) return
    hold.seats.delete(place)
    if (hold.seats.size > 0) return
    holds.delete(holdId)
    const own = holdsOf.get(hold.customerId)
    own?.delete(holdId)
    if (own?.size === 0) holdsOf.delete(hold.customerId)
  }

  // A hold is live if and only if now < its end.
  function recount(): void {
    lapsed = 0
    asOf = changedAt
    for (const { end, endUs, seats } of holds.values()) {
      const over = endUs <= clockUs
      if (over) lapsed += 1
      if (over && end > asOf) asOf = end
      for (const place of seats) shown[place] = over ? 'A' : 'H'
    }
  }

  function keep(step: BoardStep): BoardStep {
    kept.push(step)
    if (kept.length > STEPS_KEPT) kept.shift()
    return step
  }

  /** What `change` makes of the picture, as a step. */
  function step(change: () => void): BoardStep {
    const before = shown.slice()
    change()
    recount()
    const changes = row.codes.flatMap((code, place) => {
      const letter = shown[place] as SeatLetter
      return letter === before[place] ? [] : { code, status: STATUS_OF[letter] }
    })
    return keep({ version, lapsed, asOf, changes })
  }

  /** Moves the clock; forwards hold by hold, so that every process goes the same way. Backwards only when the database's clock was set back. */
  function moveClock(toUs: number): BoardStep[] {
    const steps: BoardStep[] = []
    for (let endUs = nextEndUs(); endUs <= toUs; endUs = nextEndUs()) {
      const lapseUs = endUs
      steps.push(
        step(() => {
          clockUs = lapseUs
        }),
      )
    }
    const unlapsed = [...holds.values()].some(({ endUs }) => endUs > toUs && endUs <= clockUs)
    clockUs = toUs
    if (unlapsed) steps.push(step(() => {}))
    return steps
  }

  function nextEndUs(): number {
    let next = Number.POSITIVE_INFINITY
    for (const { endUs } of holds.values()) if (endUs > clockUs && endUs < next) next = endUs
    return next
  }

  return {
    get version() {
      return version
    },
    get lapsed() {
      return lapsed
    },
    get asOf() {
      return asOf
    },
    get clockUs() {
      return clockUs
    },
    moveClock,
    nextEndUs,

    /** One letter a seat, in the order of the codes as bytes. */
    letters: () => shown.join(''),

    /** The next change row, or null when it is not the next one: then the board has to be loaded anew. */
    apply(change: ChangeRow, known: Map<string, string>): BoardStep[] | null {
      if (change.version !== version + 1) return null
      const steps = moveClock(Math.max(clockUs, microseconds(change.changedAt)))
      steps.push(
        step(() => {
          for (const [at, code] of change.seatCodes.entries()) {
            const place = places.get(code)
            if (place === undefined) continue
            const letter = LETTER_OF[change.seatStatuses[at] ?? 'AVAILABLE']
            vacate(place)
            shown[place] = letter
            if (letter === 'H') occupy(place, change.seatHoldIds[at] ?? '', change.seatExpiresAt[at] ?? '', known)
          }
          version = change.version
          changedAt = change.changedAt
        }),
      )
      return steps
    },

    /** The steps after that picture; null when it is not remembered. */
    stepsSince(known: { version: number; lapsed: number }): BoardStep[] | null {
      const at = kept.findLastIndex((one) => one.version === known.version && one.lapsed === known.lapsed)
      return at < 0 ? null : kept.slice(at + 1)
    },

    /** Seats of this customer's live holds, sorted as the codes are. */
    seatsOf(customerId: string): string[] {
      const own = [...(holdsOf.get(customerId) ?? [])].map((id) => holds.get(id)).filter((hold) => hold !== undefined)
      const held = own.filter(({ endUs }) => endUs > clockUs).flatMap(({ seats }) => [...seats])
      return held.sort((a, b) => a - b).map((place) => row.codes[place] ?? '')
    },

    /** Whatever stands in the way of this wish, when one thing at least surely does: sold, off sale, or held by somebody else for `sureMs` more. */
    surelyTaken(customerId: string, codes: readonly string[], sureMs: number): Blocking[] | null {
      if (holdsOf.has(customerId)) return null
      const blocking: Blocking[] = []
      let sure = false
      for (const code of codes) {
        const place = places.get(code)
        if (place === undefined) return null
        const letter = shown[place] as SeatLetter
        if (letter === 'A') continue
        blocking.push({ code, reason: letter === 'H' ? 'held' : letter === 'B' ? 'booked' : 'blocked' })
        sure ||= letter !== 'H' || (holds.get(holdAt[place] ?? '')?.endUs ?? 0) > clockUs + sureMs * 1_000
      }
      return sure ? blocking : null
    },
  }
}

export function ownersOf({ ownedHolds, owners }: HoldOwners): Map<string, string> {
  return new Map(ownedHolds.map((id, at) => [id, owners[at] ?? '']))
}

const MILLISECONDS_END = 'YYYY-MM-DDTHH:MM:SS.fff'.length

/** Of an RFC 3339 text with six decimals, exactly. */
export function microseconds(time: string): number {
  return Date.parse(`${time.slice(0, MILLISECONDS_END)}Z`) * 1_000 + Number(time.slice(MILLISECONDS_END, -1))
}
