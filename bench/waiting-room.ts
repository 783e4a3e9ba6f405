// `waiting-room`: joins and heartbeats with 100,000 visitors waiting, in this process's memory and in a Redis of its own; what one costs of the server's time.

import { drawScore } from '#waiting-room/draw.ts'
import { memoryStore } from '#waiting-room/memory-store.ts'
import type { Room, RoomStore } from '#waiting-room/room-store.ts'
import type { Bench, Stage } from './bench.ts'
import { median } from './bench.ts'

const VISITORS = 100_000
const ACTIVE_MAX = 500
const RULES = { goneMs: 3_600_000, admissionTtlMs: 900_000 }
const NOTHING = { score: null, admission: null }
const ROOM: Room = {
  inventoryId: 1,
  round: 1,
  status: 'OPEN',
  activeMax: ACTIVE_MAX,
  admitPerMinute: null,
  selling: true,
}
const LIMIT_MS = 1

export const bench: Bench = {
  name: 'waiting-room',
  ours: `one heartbeat or join among ${VISITORS.toLocaleString('en')} visitors, in memory`,
  reference: `the limit of ${LIMIT_MS} ms`,
  mustReach: 1,
  async run(stage: Stage) {
    const visitors = stage.quick ? VISITORS / 10 : VISITORS
    const heapBefore = process.memoryUsage().heapUsed
    const store = memoryStore(RULES)
    await store.begin({ ...ROOM, status: 'PRE_QUEUE' })
    const joinMs = await perCall(visitors, (n) => join(store, n, visitors))
    const heapMb = (process.memoryUsage().heapUsed - heapBefore) / 1e6
    const beatMs: number[] = []
    let activeMax = 0
    for (let round = 0; round < 5; round++) {
      beatMs.push(await perCall(visitors, (n) => store.visit(ROOM, `v${(n * 7_919) % visitors}`, NOTHING)))
      activeMax = Math.max(activeMax, (await store.move(ROOM)).active)
      stage.say(`join ${(joinMs * 1000).toFixed(1)} us, heartbeat ${((beatMs.at(-1) ?? 0) * 1000).toFixed(1)} us`)
    }
    const worst = Math.max(joinMs, median(beatMs))
    return {
      name: 'waiting-room',
      ours: Number(worst.toFixed(5)),
      reference: LIMIT_MS,
      ratio: activeMax <= ACTIVE_MAX ? LIMIT_MS / worst : 0,
      unit: 'ms',
      rounds: beatMs.length,
      notes: {
        visitors,
        'join us': (joinMs * 1000).toFixed(1),
        'heartbeat us': (median(beatMs) * 1000).toFixed(1),
        'bytes a visitor': Math.round((heapMb * 1e6) / visitors),
        'active at most': `${activeMax} of ${ACTIVE_MAX}`,
      },
    }
  },
}

// Half of them before the opening, anywhere in the line; half after it, at its end.
function join(store: RoomStore, n: number, visitors: number): Promise<unknown> {
  const status = n < visitors / 2 ? 'PRE_QUEUE' : 'OPEN'
  return store.join({ ...ROOM, status }, `v${n}`, drawScore('ab', `v${n}`))
}

async function perCall(calls: number, call: (n: number) => Promise<unknown>): Promise<number> {
  const beganMs = performance.now()
  for (let n = 0; n < calls; n++) await call(n)
  return (performance.now() - beganMs) / calls
}
