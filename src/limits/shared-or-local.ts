// Redis decides for all processes; when it does not answer, this process decides alone. Its own store counts along all the time, so that losing Redis hands
// nobody a fresh minute here.
import type { Redis } from '#redis/connect-redis.ts'
import type { LimitStore } from './limit-store.ts'

// A Redis that failed is not asked by any request, only by a ping behind their backs, this often: nobody but those under way waits for its silence.
const PAUSE_MS = 1_000

/** `onAlone` is told of each answer given without Redis. */
export function sharedOrLocal(
  { redis, shared, local }: { redis: Pick<Redis, 'ping'>; shared: LimitStore; local: LimitStore },
  onAlone: () => void,
): LimitStore {
  let down = false
  let askAgainMs = 0

  async function decide<T>(question: (store: LimitStore) => T | Promise<T>): Promise<T> {
    const here = question(local)
    if (down) lookAgain()
    else {
      try {
        return await question(shared)
      } catch {
        down = true
        askAgainMs = performance.now() + PAUSE_MS
      }
    }
    onAlone()
    return here
  }

  function lookAgain(): void {
    if (performance.now() < askAgainMs) return
    askAgainMs = performance.now() + PAUSE_MS
    redis.ping().then(
      () => {
        down = false
      },
      () => {},
    )
  }

  return {
    take: (who, max) => decide((store) => store.take(who, max)),
    cooling: (inventoryId, holder, seats) => decide((store) => store.cooling(inventoryId, holder, seats)),
    held: (inventoryId, holder, seats, forMs) => decide((store) => store.held(inventoryId, holder, seats, forMs)),
    letGo: (inventoryId, holder, seats) => decide((store) => store.letGo(inventoryId, holder, seats)),
  }
}
