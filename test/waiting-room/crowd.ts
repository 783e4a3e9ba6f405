// A crowd in front of one show: some come before the opening and some after, ask every few seconds, go away when they have bought, and some of them are
// silently gone, waiting or inside. Watches from outside what everybody was told.
import { setTimeout as sleep } from 'node:timers/promises'
import { drawScore } from '#waiting-room/draw.ts'
import type { Room, RoomStore } from '#waiting-room/room-store.ts'

export type CrowdPlan = {
  visitors: number
  /** So many of them before the opening. */
  early: number
  /** The others come evenly over this time. */
  comeMs: number
  beatMs: number
  stayMs: [number, number]
  silentShare: number
  stepMs: number
  /** 64 hexadecimal digits: of the draw, and of everything that is left to chance. */
  seed: string
}

export type Witnessed = {
  /** The most visitors at any sample who had been told ADMITTED and whose pass was good. */
  insideMax: number
  activeMax: number
  samples: number
  admissions: { visitor: string; score: number; no: number }[]
  /** Never silent, and never admitted. */
  stranded: string[]
  lastedMs: number
  slowestMoveMs: number
  callMs: number[]
}

type Visitor = {
  name: string
  silentAtMs: number
  silentInside: boolean
  beatAtMs: number
  leaveAtMs: number
  untilMs: number
  status: 'TO_COME' | 'WAITING' | 'INSIDE' | 'OVER'
}

const CALLS_AT_ONCE = 400

/** `advance` moves the store's clock; null: it is the real one. */
export async function playCrowd(
  store: RoomStore,
  room: Room,
  plan: CrowdPlan,
  advance: ((ms: number) => void) | null,
): Promise<Witnessed> {
  const { seed, stepMs, beatMs } = plan
  const random = seededBy(seed)
  const seen: Witnessed = {
    ...{
      insideMax: 0,
      activeMax: 0,
      samples: 0,
      admissions: [],
      stranded: [],
      lastedMs: 0,
      slowestMoveMs: 0,
      callMs: [],
    },
  }
  let nowMs = 0
  let storeMs = 0
  const beforeRoom = { ...room, status: 'PRE_QUEUE' as const }
  await store.begin(beforeRoom)
  const crowd = Array.from({ length: plan.visitors }, (_, n): Visitor => {
    const silent = random() < plan.silentShare
    const inside = random() < 0.5
    return {
      name: `visitor-${n}`,
      silentAtMs: silent && !inside ? random() * plan.comeMs * 2 : Number.POSITIVE_INFINITY,
      silentInside: silent && inside,
      ...{ beatAtMs: 0, leaveAtMs: 0, untilMs: 0, status: 'TO_COME' },
    }
  })
  await inTurns(crowd.slice(0, plan.early), (visitor) => come(beforeRoom, visitor))
  await store.open(beforeRoom)

  const beganMs = performance.now()
  let arrived = plan.early
  let there = crowd
  while (there.length > 0) {
    const due = Math.min(plan.visitors, plan.early + Math.floor(((plan.visitors - plan.early) * nowMs) / plan.comeMs))
    await inTurns(crowd.slice(arrived, due), (visitor) => come(room, visitor))
    arrived = due
    const leaving = there.filter(({ status, leaveAtMs }) => status === 'INSIDE' && leaveAtMs <= nowMs)
    for (let from = 0; from < leaving.length; from += 1_000) {
      const some = leaving.slice(from, from + 1_000)
      // Told first: from the moment they are asked to leave nobody counts them any more.
      for (const visitor of some) visitor.status = 'OVER'
      await store.leave(
        room,
        some.map(({ name }) => name),
      )
    }
    await moveAndSample()
    for (const visitor of there) {
      const gone = visitor.silentAtMs <= nowMs || (visitor.status === 'INSIDE' && visitor.silentInside)
      if (gone && (visitor.status === 'WAITING' || visitor.status === 'INSIDE')) visitor.status = 'OVER'
    }
    await inTurns(
      there.filter(({ status, beatAtMs }) => (status === 'WAITING' || status === 'INSIDE') && beatAtMs <= nowMs),
      beat,
    )
    await moveAndSample()
    there = there.filter(({ status, untilMs }) => status !== 'OVER' || untilMs > storeMs)
    if (advance) {
      advance(stepMs)
      nowMs += stepMs
    } else {
      await sleep(Math.max(0, nowMs + stepMs - (performance.now() - beganMs)))
      nowMs = performance.now() - beganMs
    }
  }
  seen.lastedMs = nowMs
  const admitted = new Set(seen.admissions.map(({ visitor }) => visitor))
  seen.stranded = crowd.flatMap(({ name, silentAtMs }) =>
    silentAtMs === Number.POSITIVE_INFINITY && !admitted.has(name) ? [name] : [],
  )
  return seen

  async function come(into: Room, visitor: Visitor): Promise<void> {
    await timed(() => store.join(into, visitor.name, drawScore(seed, visitor.name)))
    visitor.status = 'WAITING'
    visitor.beatAtMs = nowMs + random() * beatMs
  }

  async function beat(visitor: Visitor): Promise<void> {
    const place = await timed(() => store.visit(room, visitor.name, { score: null, admission: null }))
    visitor.beatAtMs = nowMs + beatMs
    visitor.untilMs = place.admission?.untilMs ?? 0
    if (place.status === 'GONE') throw new Error(`${visitor.name} was heard of and is gone`)
    if (place.status !== 'ADMITTED' || visitor.status === 'INSIDE') return
    seen.admissions.push({ visitor: visitor.name, score: place.score, no: place.admission?.no ?? 0 })
    visitor.status = 'INSIDE'
    const [least, most] = plan.stayMs
    visitor.leaveAtMs = nowMs + least + random() * (most - least)
  }

  async function moveAndSample(): Promise<void> {
    const startMs = performance.now()
    const { active } = await store.move(room)
    seen.slowestMoveMs = Math.max(seen.slowestMoveMs, performance.now() - startMs)
    storeMs = (await store.visit(room, 'nobody', { score: null, admission: null })).nowMs
    let inside = 0
    // Also who is silently gone holds a good pass until the minute is over; who left does not.
    for (const { untilMs, leaveAtMs, status } of there)
      if (untilMs > storeMs && (status === 'INSIDE' || (status === 'OVER' && leaveAtMs > nowMs))) inside += 1
    seen.insideMax = Math.max(seen.insideMax, inside)
    seen.activeMax = Math.max(seen.activeMax, active)
    seen.samples += 1
  }

  async function timed<T>(call: () => Promise<T>): Promise<T> {
    if (random() > 0.01) return call()
    const startMs = performance.now()
    const answer = await call()
    seen.callMs.push(performance.now() - startMs)
    return answer
  }
}

/** In the order given; a store in another process is asked many things at once. */
async function inTurns(visitors: Visitor[], act: (visitor: Visitor) => Promise<void>): Promise<void> {
  for (let from = 0; from < visitors.length; from += CALLS_AT_ONCE)
    await Promise.all(visitors.slice(from, from + CALLS_AT_ONCE).map(act))
}

function seededBy(text: string): () => number {
  let state = Number.parseInt(text.slice(0, 8), 16)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
