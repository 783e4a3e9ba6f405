// One round of one room in this process's memory. The scripts in redis-scripts.ts do the same, step by step.
import { PACE_MEMORY_MS } from './estimate-wait.ts'
import { RankedLine } from './ranked-line.ts'
import type { Admission, Pace, Place, Proof, Room, RoomCount, StoreRules } from './room-store.ts'

type Waiting = { score: number; seenMs: number }
type Active = Admission & { score: number }

// What one move does at most, so that a crowd that leaves at once does not stop everything else.
export const MOVES_MAX = 1_000
// The pace is worked out at most this often.
const PACE_STEP_MS = 250

export class MemoryRoom {
  readonly round: number
  readonly #rules: StoreRules
  readonly #line = new RankedLine()
  // In the order of the last sign of life: who was silent longest comes first.
  readonly #waiting = new Map<string, Waiting>()
  readonly #active = new Map<string, Active>()
  readonly #drawn = new Set<string>()
  readonly #pace: Pace = { freed: 0, timeMs: 0, departed: 0, waitedMs: 0 }
  #paceAtMs: number
  #freed = 0
  #departed = 0
  #opened: boolean
  #lastUs = 0
  #allowance = 1
  #allowanceAtMs: number
  /** Until then passes that this memory knows nothing of may still be good. */
  readonly #admitsFromMs: number
  /** Until then a ticket that is unknown here is believed. */
  readonly #believesUntilMs: number

  constructor(room: Room, rules: StoreRules, nowMs: number, fresh: boolean) {
    this.round = room.round
    this.#opened = room.status !== 'PRE_QUEUE'
    this.#rules = rules
    this.#believesUntilMs = fresh ? 0 : nowMs + rules.goneMs
    this.#admitsFromMs = fresh || room.status === 'PRE_QUEUE' ? 0 : nowMs + rules.goneMs
    this.#paceAtMs = nowMs
    this.#allowanceAtMs = nowMs
  }

  join(room: Room, visitor: string, drawnScore: number, nowMs: number): Place {
    const known = this.#seen(visitor, nowMs, 0)
    if (known || room.status === 'CLOSED') return this.#place(room, visitor, false, nowMs)
    this.#noteOpening(room)
    const score = this.#opened ? this.#nextScore(nowMs) : drawnScore
    if (!this.#opened) this.#drawn.add(visitor)
    this.#enter(visitor, score, nowMs)
    this.#admit(room, nowMs)
    return this.#place(room, visitor, true, nowMs)
  }

  visit(room: Room, visitor: string, proof: Proof, keepMs: number, nowMs: number): Place {
    this.#noteOpening(room)
    const known = this.#seen(visitor, nowMs, keepMs)
    if (!known || nowMs < this.#believesUntilMs) this.#believe(room, visitor, proof, nowMs)
    return this.#place(room, visitor, false, nowMs)
  }

  leave(visitors: string[]): void {
    for (const visitor of visitors) {
      if (this.#active.delete(visitor)) this.#freed += 1
      else if (this.#depart(visitor)) this.#departed += 1
      if (!this.#opened) this.#drawn.delete(visitor)
    }
  }

  open(): string[] {
    this.#opened = true
    return [...this.#drawn]
  }

  move(room: Room, nowMs: number): RoomCount {
    this.#noteOpening(room)
    this.#sweep(nowMs)
    this.#keepPace(room, nowMs)
    const admitted = this.#admit(room, nowMs)
    return { waiting: this.#line.length, active: this.#active.size, admitted }
  }

  /** After a loss: puts a visitor back where their ticket or pass says they were. */
  #believe({ status }: Room, visitor: string, { admission, score }: Proof, nowMs: number): void {
    const believes = nowMs < this.#believesUntilMs
    if (this.#active.has(visitor)) return
    if (admission && nowMs < this.#admitsFromMs && nowMs < admission.untilMs) {
      this.#depart(visitor)
      this.#active.set(visitor, { ...admission, score: score ?? nowMs * 1000 })
      return
    }
    // Before the opening there is no place to lose: the draw decides it.
    if (score === null || status === 'CLOSED' || (this.#opened && !believes)) return
    const waiting = this.#waiting.get(visitor)
    if (waiting && waiting.score <= score) return
    // Joined again after the loss, before showing the ticket of the first joining.
    this.#depart(visitor)
    if (score < 0) this.#drawn.add(visitor)
    this.#enter(visitor, score, nowMs)
  }

  #noteOpening({ status }: Room): void {
    if (status !== 'PRE_QUEUE') this.#opened = true
  }

  // Every joining has a microsecond of its own, later than all before it.
  #nextScore(nowMs: number): number {
    this.#lastUs = Math.max(nowMs * 1000, this.#lastUs + 1)
    return this.#lastUs
  }

  #enter(visitor: string, score: number, nowMs: number): void {
    this.#waiting.set(visitor, { score, seenMs: nowMs })
    this.#line.add(score, visitor)
  }

  #depart(visitor: string): boolean {
    const waiting = this.#waiting.get(visitor)
    if (!waiting) return false
    this.#waiting.delete(visitor)
    return this.#line.remove(waiting.score, visitor)
  }

  /** A sign of life of somebody who is not gone yet; false for everybody else. */
  #seen(visitor: string, nowMs: number, keepMs: number): boolean {
    this.#dropIfGone(visitor, nowMs)
    const admission = this.#active.get(visitor)
    if (admission) {
      const { untilMs, endMs } = admission
      const keptMs = keepMs > 0 ? Math.min(nowMs, endMs) + keepMs : 0
      const renewedMs = Math.max(untilMs, keptMs, Math.min(nowMs + this.#rules.goneMs, endMs))
      this.#active.set(visitor, { ...admission, untilMs: renewedMs })
      return true
    }
    const waiting = this.#waiting.get(visitor)
    if (!waiting) return false
    this.#waiting.delete(visitor)
    this.#waiting.set(visitor, { ...waiting, seenMs: nowMs })
    return true
  }

  // At the very instant, not at the next sweep.
  #dropIfGone(visitor: string, nowMs: number): void {
    const admission = this.#active.get(visitor)
    if (admission && admission.untilMs <= nowMs && this.#active.delete(visitor)) this.#freed += 1
    const waiting = this.#waiting.get(visitor)
    if (waiting && waiting.seenMs + this.#rules.goneMs <= nowMs && this.#depart(visitor)) this.#departed += 1
  }

  #admit(room: Room, nowMs: number): number {
    this.#allow(room, nowMs)
    if (room.status !== 'OPEN' || !room.selling || nowMs < this.#admitsFromMs) return 0
    const free = Math.min(room.activeMax - this.#active.size, MOVES_MAX)
    let admitted = 0
    while (admitted < free && (room.admitPerMinute === null || this.#allowance >= 1)) {
      const next = this.#line.first()
      if (!next) break
      const seenMs = this.#waiting.get(next.visitor)?.seenMs ?? 0
      this.#depart(next.visitor)
      const endMs = nowMs + this.#rules.admissionTtlMs
      const untilMs = Math.min(seenMs + this.#rules.goneMs, endMs)
      if (untilMs <= nowMs) continue
      this.#active.set(next.visitor, { no: nowMs * 1000, untilMs, endMs, score: next.score })
      if (room.admitPerMinute !== null) this.#allowance -= 1
      admitted += 1
    }
    return admitted
  }

  #sweep(nowMs: number): void {
    for (const [visitor, { untilMs }] of this.#active)
      if (untilMs <= nowMs && this.#active.delete(visitor)) this.#freed += 1
    let swept = 0
    for (const [visitor, { seenMs }] of this.#waiting) {
      if (seenMs + this.#rules.goneMs > nowMs || swept === MOVES_MAX) break
      this.#depart(visitor)
      this.#departed += 1
      swept += 1
    }
  }

  // Only while somebody waits to be let in: an empty line says nothing about how fast it would move.
  #keepPace({ status, selling }: Room, nowMs: number): void {
    const stepMs = nowMs - this.#paceAtMs
    if (stepMs < PACE_STEP_MS) return
    if (this.#line.length > 0 && status === 'OPEN' && selling) {
      const weight = Math.exp(-stepMs / PACE_MEMORY_MS)
      this.#pace.freed = this.#pace.freed * weight + this.#freed
      this.#pace.timeMs = this.#pace.timeMs * weight + stepMs
      this.#pace.departed = this.#pace.departed * weight + this.#departed
      this.#pace.waitedMs = this.#pace.waitedMs * weight + this.#line.length * stepMs
    }
    this.#paceAtMs = nowMs
    this.#freed = 0
    this.#departed = 0
  }

  // The operator's rate, with at most one second of it saved up.
  #allow({ admitPerMinute }: Room, nowMs: number): void {
    if (admitPerMinute === null) return
    const perMs = admitPerMinute / 60_000
    this.#allowance = Math.min(this.#allowance + (nowMs - this.#allowanceAtMs) * perMs, Math.max(1, perMs * 1_000))
    this.#allowanceAtMs = nowMs
  }

  #place(room: Room, visitor: string, first: boolean, nowMs: number): Place {
    const free = Math.max(0, room.activeMax - this.#active.size)
    const about = { first, free, pace: { ...this.#pace }, nowMs }
    const active = this.#active.get(visitor)
    if (active) {
      const { score, ...admission } = active
      return { ...about, status: 'ADMITTED', score, ahead: 0, admission }
    }
    const waiting = this.#waiting.get(visitor)
    if (!waiting) return { ...about, status: 'GONE', score: nowMs * 1000, ahead: 0, admission: null }
    const ahead = this.#line.rank(waiting.score, visitor)
    return { ...about, status: this.#opened ? 'WAITING' : 'PRE_QUEUE', score: waiting.score, ahead, admission: null }
  }
}
