// The limits of all processes together, in Redis. A cluster spreads them: attempts by who tries, the history of seats by show.
import type { Redis } from '#redis/connect-redis.ts'
import { runScript } from '#redis/script.ts'
import { COOLING, HELD, LET_GO, TAKE } from './limit-scripts.ts'
import {
  ATTEMPTS_WINDOW_MS,
  GIVEN_UP_MAX,
  GIVEN_UP_WINDOW_MS,
  type Holder,
  type LimitStore,
  type Taken,
} from './limit-store.ts'

export function redisLimitStore(redis: Redis): LimitStore {
  return {
    async take(who, max): Promise<Taken> {
      const answer = await runScript(redis, TAKE, [`holdfast:attempts:{${who}}`], [ATTEMPTS_WINDOW_MS, max])
      const [waitMs, left, resetMs] = answer as [number, number, number]
      return { waitMs, left, resetMs }
    },

    async cooling(inventoryId, holder, seats) {
      const args = [GIVEN_UP_WINDOW_MS, GIVEN_UP_MAX, ...(seats ?? [])]
      const answer = (await runScript(redis, COOLING, keysOf(inventoryId, holder), args)) as (string | number)[]
      const found = new Map<string, number>()
      for (let at = 0; at < answer.length; at += 2) {
        const seat = String(answer[at])
        found.set(seat, Math.max(Number(answer[at + 1]), found.get(seat) ?? 0))
      }
      return found
    },

    async held(inventoryId, holder, seats, forMs) {
      const args = [holder.customerId, forMs, GIVEN_UP_WINDOW_MS + forMs, GIVEN_UP_MAX + 1, ...seats]
      await runScript(redis, HELD, keysOf(inventoryId, holder), args)
    },

    async letGo(inventoryId, holder, seats) {
      await runScript(redis, LET_GO, keysOf(inventoryId, holder), [holder.customerId, ...seats])
    },
  }
}

function keysOf(inventoryId: number, { customerId, network }: Holder): string[] {
  const show = `holdfast:given-up:{show_${inventoryId}}`
  return [`${show}:customer:${customerId}`, ...(network === null ? [] : [`${show}:address:${network}`])]
}
