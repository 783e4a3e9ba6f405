// One process' share of the crowd: lets everybody in at their time, waits until all are home, then has the bookings read once more.
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeatMap } from './contract.ts'
import { type History, newHistory } from './history.ts'
import { houseOf } from './house.ts'
import { type Plan, planBuyer } from './plan-buyer.ts'
import { playBuyer } from './play-buyer.ts'
import { reckon } from './reckon.ts'
import type { Buyer, Stage } from './stage.ts'
import { newTally, type Tally } from './tally.ts'
import { monotonicMs, openWire } from './wire.ts'

export type CrowdOrder = {
  url: string
  showId: string
  seats: SeatMap['seats']
  seed: number
  buyers: number
  seconds: number
  /** This process plays the buyers whose number leaves `share` when divided by `of`. */
  share: number
  of: number
  connections: number
  /** On the clock that all processes of a machine share. */
  openingMs: number
  roomOn: boolean
}

export type Crowd = {
  /** What was counted since the last time. */
  takeTally(): Tally
  /** Everybody goes home. */
  stop(): void
  /** When all are home and every booking is read. */
  ended: Promise<History>
}

// Who is still there so long after the last one came has lost the sense of time: queues without an end, holds of hours.
const EVENING_AFTER_ARRIVALS_MS = 300_000

export function startCrowd(order: CrowdOrder): Crowd {
  const { url, showId, seed, share, of, connections, openingMs, seconds } = order
  let tally = newTally()
  const history = newHistory()
  const evening = new AbortController()
  const wire = openWire(url, connections, () => tally, openingMs)
  const stage: Stage = {
    ...{ wire, openingMs, history, url },
    show: `/v1/showtimes/${showId}`,
    house: houseOf(order),
    tally: () => tally,
    over: () => evening.signal.aborted,
    pause: (ms) => sleep(Math.max(0, ms), undefined, { signal: evening.signal }).catch(() => {}),
    room: { on: order.roomOn },
  }
  const numbers = Array.from(
    { length: Math.max(0, Math.ceil((order.buyers - share) / of)) },
    (_, index) => share + index * of,
  )
  const plans = numbers.map((buyer) => planBuyer(seed, buyer, seconds)).sort((a, b) => a.arrivesMs - b.arrivesMs)

  return {
    takeTally() {
      const taken = tally
      tally = newTally()
      return taken
    },
    stop() {
      evening.abort()
      wire.dismiss()
    },
    ended: play(plans).finally(() => wire.close()),
  }

  async function play(crowd: Plan[]): Promise<History> {
    const tooLong = setTimeout(
      () => evening.abort(),
      openingMs - monotonicMs() + seconds * 1000 + EVENING_AFTER_ARRIVALS_MS,
    )
    const evenings: Promise<void>[] = []
    const buyers = new Map<number, Buyer>()
    for (const plan of crowd) {
      const waitMs = openingMs + plan.arrivesMs - monotonicMs()
      if (waitMs > 1) await stage.pause(waitMs)
      if (stage.over()) break
      evenings.push(playBuyer(plan, seed, stage, (buyer) => buyers.set(plan.buyer, buyer)))
    }
    await Promise.all(evenings)
    clearTimeout(tooLong)
    evening.abort()
    history.bookings = await reckon(history.holds, buyers)
    return history
  }
}
