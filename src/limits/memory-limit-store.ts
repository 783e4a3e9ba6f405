// The limits of one process, forgotten when it ends. With Redis it is the understudy: it counts along and decides when Redis does not answer.
import {
  ATTEMPTS_WINDOW_MS,
  type Cooling,
  GIVEN_UP_MAX,
  GIVEN_UP_WINDOW_MS,
  type Holder,
  type LimitStore,
  type Taken,
} from './limit-store.ts'
import { recent } from './recent.ts'

type Attempts = { times: number[]; first: number }
/** One time somebody had a seat; the last of a seat may be under way. */
type Possession = { customerId: string; endMs: number }
type SeatHistory = Map<string, Possession[]>

// Whoever is forgotten by these bounds has not tried for long. About 20 MB each when full.
const TRIERS_MAX = 100_000
const HOLDERS_MAX = 20_000
const NOTHING: Cooling = new Map()

/** `nowMs` counts up by milliseconds from anywhere. */
export function memoryLimitStore(nowMs: () => number = () => Math.floor(performance.now())) {
  const attempts = recent<Attempts>(TRIERS_MAX)
  const histories = recent<SeatHistory>(HOLDERS_MAX)

  return {
    take(who, max): Taken {
      const now = nowMs()
      const made = attempts.get(who) ?? attempts.set(who, { times: [], first: 0 })
      forget(made, now - ATTEMPTS_WINDOW_MS)
      const count = made.times.length - made.first
      // When the one is forgotten that leaves room for another.
      const blocking = count < max ? undefined : made.times[made.times.length - max]
      if (blocking === undefined) made.times.push(now)
      const oldest = made.times[made.first] ?? now
      return {
        waitMs: blocking === undefined ? 0 : blocking + ATTEMPTS_WINDOW_MS - now,
        left: Math.max(0, max - (made.times.length - made.first)),
        resetMs: oldest + ATTEMPTS_WINDOW_MS - now,
      }
    },

    cooling(inventoryId, holder, seats): Cooling {
      const now = nowMs()
      let found: Map<string, number> | null = null
      for (const key of keysOf(inventoryId, holder)) {
        const history = histories.get(key)
        if (history === undefined) continue
        for (const seat of seats ?? history.keys()) {
          const waitMs = coolingMs(history.get(seat) ?? [], now)
          if (waitMs === 0 || waitMs <= (found?.get(seat) ?? 0)) continue
          found ??= new Map()
          found.set(seat, waitMs)
        }
      }
      return found ?? NOTHING
    },

    held(inventoryId, holder, seats, forMs): void {
      const now = nowMs()
      const { customerId } = holder
      const [own, ...others] = keysOf(inventoryId, holder)
      const history = historyOf(own)
      const kept = new Set(seats)
      for (const [seat, had] of history) if (!kept.has(seat)) end(had, customerId, now)
      for (const each of [history, ...others.map(historyOf)])
        for (const seat of seats) {
          const had = each.get(seat) ?? []
          const last = had.at(-1)
          // A seat has one holder at a time: whoever else had it does not have it any more.
          if (last && last.endMs > now && last.customerId === customerId) had.pop()
          else if (last) last.endMs = Math.min(last.endMs, now)
          had.push({ customerId, endMs: now + forMs })
          each.set(seat, had.slice(-(GIVEN_UP_MAX + 1)))
        }
    },

    letGo(inventoryId, holder, seats): void {
      const now = nowMs()
      for (const key of keysOf(inventoryId, holder))
        for (const seat of seats) end(histories.get(key)?.get(seat) ?? [], holder.customerId, now)
    },
  } satisfies LimitStore

  function historyOf(key: string): SeatHistory {
    return histories.get(key) ?? histories.set(key, new Map())
  }
}

function forget(made: Attempts, untilMs: number): void {
  while (made.first < made.times.length && (made.times[made.first] ?? 0) <= untilMs) made.first++
  if (made.first * 2 < made.times.length || made.first === 0) return
  made.times.splice(0, made.first)
  made.first = 0
}

function keysOf(inventoryId: number, { customerId, network }: Holder): [string, ...string[]] {
  const own = `${inventoryId} customer ${customerId}`
  return network === null ? [own] : [own, `${inventoryId} address ${network}`]
}

function end(had: Possession[], customerId: string, now: number): void {
  const last = had.at(-1)
  if (last?.customerId === customerId) last.endMs = Math.min(last.endMs, now)
}

function coolingMs(had: Possession[], now: number): number {
  const over = had.filter(({ endMs }) => endMs <= now && endMs > now - GIVEN_UP_WINDOW_MS)
  const first = over.at(-GIVEN_UP_MAX)
  return over.length < GIVEN_UP_MAX || first === undefined ? 0 : first.endMs + GIVEN_UP_WINDOW_MS - now
}
