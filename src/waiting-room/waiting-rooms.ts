// The waiting rooms as one process keeps them: their settings read again and again, the store of visitors, and the clockwork that opens, admits and frees.
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Metrics } from '#core/metrics.ts'
import type { Sql } from '#database/connect.ts'
import { type Mac, macOf } from '#identity/mac.ts'
import { loadSecret } from '#identity/secrets.ts'
import type { Redis } from '#redis/connect-redis.ts'
import { freeFinished } from './free-finished.ts'
import { memoryStore } from './memory-store.ts'
import { type AttemptCounts, openByLoad } from './open-by-load.ts'
import { openRoom } from './open-room.ts'
import type { QueueView } from './queue-view.ts'
import { type LiveRoom, readRooms } from './read-rooms.ts'
import { redisStore } from './redis-store.ts'
import type { Admission, Place, RoomStore } from './room-store.ts'
import { switchOffIdle } from './switch-off-idle.ts'

export type WaitingRooms = {
  readonly sql: Sql
  readonly store: RoomStore
  /** Proves tickets and admissions. */
  readonly mac: Mac
  readonly attempts: AttemptCounts
  /** False: this is one of several processes and nothing is shared between them, so that each would have a line and a limit of its own. */
  readonly shared: boolean
  /** Null: no waiting room is on for this inventory. At most half a second old. */
  room(inventoryId: number): LiveRoom | null
  /** Notes what a visitor is told, so that it can be said again while the store is away. */
  tell(visitor: string, place: Place, view: QueueView): QueueView
  lastTold(visitor: string): Told | null
  /** By the store's clock as this process knows it; true while it has never heard of it. */
  isOver(timeMs: number): boolean
  /** Reads the settings now. */
  refresh(): Promise<void>
  /** From now on this process opens, admits and frees: only where the doors are, for a store in memory is theirs. */
  start(): void
  close(): Promise<void>
}

export type Told = { view: QueueView; admission: Admission | null }

export type WaitingRoomParts = {
  sql: Sql
  redis: Redis | null
  log: FastifyBaseLogger
  metrics: Pick<Metrics, 'observe'>
  config: { admissionTtlMs: number; waitingRoomAutoHoldsPerSecond: number; processes: number }
}

/** Not heard of for this long, a visitor's place is given away. */
export const GONE_MS = 60_000
const TICK_MS = 500
const TOLD_MAX = 100_000

/** Makes its secret and reads the settings before it answers. `goneMs` is for tests that have no minute to wait. */
export async function openWaitingRooms(parts: WaitingRoomParts, goneMs: number = GONE_MS): Promise<WaitingRooms> {
  const { sql, redis, log, config } = parts
  const rules = { goneMs, admissionTtlMs: config.admissionTtlMs }
  const store = redis ? redisStore(redis, rules) : memoryStore(rules)
  const mac = macOf(await loadSecret(sql, 'waiting-room', () => crypto.getRandomValues(Buffer.alloc(32))))
  const attempts: AttemptCounts = new Map()
  const idleSince = new Map<number, number>()
  const lastTold = new LRUCache<string, Told>({ max: TOLD_MAX })
  let live = await readRooms(sql)
  let clock: { storeMs: number; atMs: number } | null = null
  let counts = { waiting: 0, active: 0 }
  let stopped = false
  let loop: Promise<void> | null = null
  let endPause = () => {}

  const rooms: WaitingRooms = {
    sql,
    store,
    mac,
    attempts,
    shared: redis !== null || config.processes === 1,
    room: (inventoryId) => live.get(inventoryId) ?? null,
    tell(visitor, place, view) {
      clock = { storeMs: place.nowMs, atMs: performance.now() }
      lastTold.set(visitor, { view, admission: place.admission })
      return view
    },
    lastTold: (visitor) => lastTold.get(visitor) ?? null,
    isOver: (timeMs) => clock === null || clock.storeMs + (performance.now() - clock.atMs) >= timeMs,
    async refresh() {
      const before = live
      live = await readRooms(sql)
      for (const room of before.values()) if (live.get(room.inventoryId)?.round !== room.round) await store.forget(room)
    },
    start() {
      loop ??= run()
    },
    async close() {
      stopped = true
      endPause()
      await loop
    },
  }
  parts.metrics.observe(
    'holdfast_waiting_visitors',
    'Visitors waiting in the rooms this process looks after',
    () => counts.waiting,
  )
  parts.metrics.observe(
    'holdfast_admitted_visitors',
    'Visitors admitted and active in those rooms',
    () => counts.active,
  )
  return rooms

  async function run(): Promise<void> {
    let failures = 0
    while (!stopped) {
      try {
        await tick()
        failures = 0
      } catch (error) {
        failures += 1
        if (failures === 1)
          log.warn({ err: error }, 'the waiting rooms stand still and will go on when the store is back')
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, TICK_MS)
        endPause = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  // One room that cannot be moved (a node of the cluster is away) does not keep the others from moving.
  async function tick(): Promise<void> {
    await rooms.refresh()
    await openByLoad(rooms, config.waitingRoomAutoHoldsPerSecond)
    const moved = await Promise.allSettled([...live.values()].map(moveOne))
    counts = { waiting: 0, active: 0 }
    for (const one of moved) {
      if (one.status === 'rejected') throw one.reason
      counts.waiting += one.value.waiting
      counts.active += one.value.active
    }
  }

  async function moveOne(room: LiveRoom): Promise<{ waiting: number; active: number }> {
    if (room.due) await openRoom(rooms, room)
    await freeFinished(rooms, room)
    const count = await store.move(room)
    if (room.automatic) await switchOffIdle(sql, room, count, idleSince)
    return count
  }
}
