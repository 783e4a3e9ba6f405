// What a rush counts while it plays. Each process of the crowd sends what was added since the last time; the director adds it all up.
import { addLatency, type Latency, newLatency, noteLatency } from './latency.ts'

export const KINDS = ['session', 'room', 'map', 'hold', 'release', 'checkout', 'pay', 'booking', 'cancel'] as const
/** What a request was for. */
export type Kind = (typeof KINDS)[number]

/** People, by where they are now (these also fall) and by what became of them. */
export type Count =
  | 'arrived'
  | 'inRoom'
  | 'holding'
  | 'home'
  | 'seatsSold'
  | 'unanswered'
  | 'watchers'
  | 'changesSeen'
  | 'changesOutOfOrder'

export type Tally = {
  latency: Map<Kind, Latency>
  counts: Map<Count, number>
  /** `hold SEATS_UNAVAILABLE` -> how often. */
  refusals: Map<string, number>
  /** HTTP status -> how often. */
  statuses: Map<number, number>
  /** What became of the buyers who have gone home. */
  outcomes: Map<string, number>
  /** `12 hold` -> requests answered in the 13th second after the opening. */
  perSecond: Map<string, number>
  /** Second after the opening -> seats whose sale was seen in it. */
  soldPerSecond: Map<number, number>
  /** From paying to seeing the booking confirmed. */
  confirmation: Latency
}

export function newTally(): Tally {
  return {
    latency: new Map(),
    counts: new Map(),
    refusals: new Map(),
    statuses: new Map(),
    outcomes: new Map(),
    perSecond: new Map(),
    soldPerSecond: new Map(),
    confirmation: newLatency(),
  }
}

export function count<Name>(counts: Map<Name, number>, name: Name, more = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + more)
}

export function noteAnswer(
  tally: Tally,
  kind: Kind,
  answer: { status: number; code: string | null; ms: number },
  second: number,
): void {
  noteLatency(latencyOf(tally, kind), answer.ms)
  count(tally.statuses, answer.status)
  count(tally.perSecond, `${second} ${kind}`)
  if (answer.status >= 400) count(tally.refusals, `${kind} ${answer.code ?? answer.status}`)
}

export function addTally(into: Tally, more: Tally): void {
  for (const [kind, latency] of more.latency) addLatency(latencyOf(into, kind), latency)
  addLatency(into.confirmation, more.confirmation)
  for (const part of ['counts', 'refusals', 'statuses', 'outcomes', 'perSecond', 'soldPerSecond'] as const)
    addCounts(into[part] as Map<unknown, number>, more[part])
}

function latencyOf(tally: Tally, kind: Kind): Latency {
  const known = tally.latency.get(kind)
  if (known) return known
  const latency = newLatency()
  tally.latency.set(kind, latency)
  return latency
}

function addCounts(into: Map<unknown, number>, more: Map<unknown, number>): void {
  for (const [name, value] of more) count(into, name, value)
}
