// What all buyers of one process share: the wire, the house, what is counted and written down, and when the evening is over.
import type { Chance } from './chance.ts'
import type { History, HoldSeen } from './history.ts'
import type { House } from './house.ts'
import type { Plan } from './plan-buyer.ts'
import { type Count, count, type Kind, type Tally } from './tally.ts'
import { monotonicMs, type Question, type Reply, type Wire } from './wire.ts'

export type Stage = {
  /** Of the system, without a slash at its end. */
  url: string
  wire: Wire
  /** The path of the show: `/v1/showtimes/show_42`. */
  show: string
  house: House
  openingMs: number
  history: History
  /** What was counted since it was last sent away. */
  tally(): Tally
  /** Whether everybody is to go home. */
  over(): boolean
  /** Answers after this time, or when the evening is over. */
  pause(ms: number): Promise<void>
  /** Whether there is a waiting room before the sale, as far as anybody has met it. */
  room: { on: boolean }
}

/** One buyer, with the session they opened. */
export type Buyer = {
  stage: Stage
  plan: Plan
  chance: Chance
  ask(kind: Kind, path: string, question?: Question): Promise<Reply>
  /** The ticket and the pass of the waiting room. */
  ticket: string | null
  admission: string | null
  /** Their own, in the order in which they got them; each is in the history, too. */
  holds: HoldSeen[]
  /** The map as last seen. */
  map: { etag: string | null; letters: string }
}

// A server that is full says when to come back; who is told so again and again goes home.
const OVERLOAD_TRIES = 6
const OVERLOAD_PAUSE_MS = 1_000

/** Null when no session could be had. */
export async function openSession(stage: Stage, plan: Plan, chance: Chance): Promise<Buyer | null> {
  const headers: Record<string, string> = { 'x-forwarded-for': plan.address }
  const buyer: Buyer = {
    ...{ stage, plan, chance, ticket: null, admission: null, holds: [], map: { etag: null, letters: '' } },
    ask: (kind, path, question = {}) =>
      stage.wire.ask(kind, path, { ...question, headers: { ...headers, ...question.headers } }),
  }
  const reply = await askPatiently(buyer, () => buyer.ask('session', '/v1/sessions', { method: 'POST' }))
  if (reply.status !== 201) return null
  headers.authorization = `Bearer ${reply.read<{ token: string }>().token}`
  return buyer
}

/** Asks again after a moment while the system is full or silent. For requests whose repeat is harmless. */
export async function askPatiently(
  { stage, chance }: Pick<Buyer, 'stage' | 'chance'>,
  ask: () => Promise<Reply>,
): Promise<Reply> {
  for (let attempt = 1; ; attempt++) {
    const reply = await ask()
    if ((reply.status !== 503 && reply.status !== 0) || attempt === OVERLOAD_TRIES || stage.over()) return reply
    await stage.pause(chance.aroundMs(OVERLOAD_PAUSE_MS * attempt))
  }
}

export function tell({ stage }: Buyer, what: Count, more = 1): void {
  count(stage.tally().counts, what, more)
}

/** The second after the opening in which it is now. */
export function secondOf(stage: Stage): number {
  return Math.max(0, Math.floor((monotonicMs() - stage.openingMs) / 1000))
}
