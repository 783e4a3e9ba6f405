// The visitors of a single instance, in memory. A restart forgets them, and their tickets bring them back; several instances need Redis.
import { MemoryRoom } from './memory-room.ts'
import type { Room, RoomStore, StoreRules } from './room-store.ts'

// The wall clock as it was when the process began, carried on by a clock that never jumps: tickets outlive a restart, durations are never wrong.
const runningClock = () => Math.floor(performance.timeOrigin + performance.now())

/** `nowMs`: Unix time in whole milliseconds; tests bring their own. */
export function memoryStore(rules: StoreRules, nowMs: () => number = runningClock): RoomStore {
  const rooms = new Map<number, MemoryRoom>()
  const attempts = new Map<number, { second: number; count: number; before: number }>()

  function roomOf(room: Room): MemoryRoom {
    const kept = rooms.get(room.inventoryId)
    if (kept && kept.round >= room.round) return kept
    const made = new MemoryRoom(room, rules, nowMs(), false)
    rooms.set(room.inventoryId, made)
    return made
  }

  return {
    async begin(room) {
      rooms.set(room.inventoryId, new MemoryRoom(room, rules, nowMs(), true))
    },
    async join(room, visitor, drawnScore) {
      return roomOf(room).join(room, visitor, drawnScore, nowMs())
    },
    async visit(room, visitor, proof, keepMs = 0) {
      return roomOf(room).visit(room, visitor, proof, keepMs, nowMs())
    },
    async leave(room, visitors) {
      roomOf(room).leave(visitors)
    },
    async open(room) {
      return roomOf(room).open()
    },
    async move(room) {
      return roomOf(room).move(room, nowMs())
    },
    async countAttempts(inventoryId, count) {
      const second = Math.floor(nowMs() / 1000)
      const kept = attempts.get(inventoryId)
      if (attempts.size > 10_000) attempts.clear()
      if (kept?.second === second) {
        kept.count += count
        return kept.before
      }
      const before = kept?.second === second - 1 ? kept.count : 0
      attempts.set(inventoryId, { second, count, before })
      return before
    },
    async forget({ inventoryId, round }) {
      if (rooms.get(inventoryId)?.round === round) rooms.delete(inventoryId)
    },
  }
}
