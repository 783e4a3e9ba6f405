// Seat locks in Redis: who has the token has the seats, for a time that ends by itself. Usable without the rest of the house (docs/seat-locks.md).
// They are quick and they are not the last word: Redis forgets on a restart and on a failover, so whoever sells needs a unique constraint behind them.
import { randomBytes } from 'node:crypto'
import type { Redis } from '#redis/connect-redis.ts'
import { runScript, type Script, sendScript } from '#redis/script.ts'
import { EXTEND_ALL, HOLD_ALL, RELEASE_ALL, REMAINING } from './seat-lock-scripts.ts'

export type SeatLockOptions = {
  /** The first part of every key. Without `{`: the inventory's number is what places a key in a cluster, so one show is one slot. */
  prefix: string
  /** The longest any lock may last; a key that says more was not written by us and locks nothing. */
  ttlMaxMs?: number
}

/**
 * Every call is one step in Redis, for all of its seats or for none. Rejects with RangeError before anything is sent (no seats, a seat twice, an empty
 * token, a time out of bounds), and with Redis' own error when Redis does not do it: then the outcome is unknown until the time has run out.
 */
export type SeatLocks = {
  /** Whether the seat is the token's now. */
  hold(inventoryId: number, seat: string, token: string, ttlMs: number): Promise<boolean>
  /** The seats that stood in the way; none: all are the token's now. What it had already begins a new time. */
  holdAll(inventoryId: number, seats: string[], token: string, ttlMs: number): Promise<string[]>
  /** The seats that are not the token's (any more); none: all last ttlMs from now on. */
  extendAll(inventoryId: number, seats: string[], token: string, ttlMs: number): Promise<string[]>
  /** The seats that were the token's and are free now; those of others, or of nobody, are left as they are. */
  releaseAll(inventoryId: number, seats: string[], token: string): Promise<string[]>
  /** Milliseconds by Redis' clock, for countdowns, in the order of the seats; 0 is not the token's (any more). */
  remaining(inventoryId: number, seats: string[], token: string): Promise<number[]>
}

const TTL_MAX_MS = 86_400_000
// A script stops the whole server while it runs: this many seats take it half a millisecond.
const SEATS_MAX = 1_000
const TOKEN_BYTES = 16

/** A token nobody can guess: 22 characters. */
export function newLockToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

export function createSeatLocks(redis: Redis, { prefix, ttlMaxMs = TTL_MAX_MS }: SeatLockOptions): SeatLocks {
  if (prefix === '' || /[{}]/.test(prefix)) throw new RangeError('the prefix of seat locks is empty or has a brace')

  function keysOf(inventoryId: number, seats: string[], token: string): string[] {
    check(inventoryId, seats, token)
    return seats.map((seat) => `${prefix}:{${inventoryId}}:${seat}`)
  }

  async function run(lock: Script, inventoryId: number, seats: string[], token: string, ...times: number[]) {
    const keys = keysOf(inventoryId, seats, token)
    for (const ms of times) if (!(Number.isInteger(ms) && ms > 0 && ms <= ttlMaxMs)) throw new RangeError(`${ms} ms`)
    return runScript(redis, lock, keys, [token, ...times])
  }

  const holdAll: SeatLocks['holdAll'] = async (inventoryId, seats, token, ttlMs) =>
    seatsAt(seats, await run(HOLD_ALL, inventoryId, seats, token, ttlMs, ttlMaxMs))

  return {
    holdAll,
    hold: async (inventoryId, seat, token, ttlMs) => (await holdAll(inventoryId, [seat], token, ttlMs)).length === 0,
    extendAll: async (inventoryId, seats, token, ttlMs) =>
      seatsAt(seats, await run(EXTEND_ALL, inventoryId, seats, token, ttlMs)),
    // By its text: behind a stopped Redis the caller has long gone when it would have to be told that the script is not known.
    releaseAll: async (inventoryId, seats, token) =>
      seatsAt(seats, await sendScript(redis, RELEASE_ALL, keysOf(inventoryId, seats, token), [token])),
    remaining: async (inventoryId, seats, token) => {
      const left = wholeNumbers(await run(REMAINING, inventoryId, seats, token))
      if (left.length !== seats.length) throw new Error(`Redis answered ${left.length} times for ${seats.length} seats`)
      return left
    },
  }
}

function check(inventoryId: number, seats: string[], token: string): void {
  if (!Number.isSafeInteger(inventoryId)) throw new RangeError(`inventory ${inventoryId}`)
  if (token === '') throw new RangeError('an empty token would belong to everybody')
  if (seats.length === 0) throw new RangeError('no seats')
  if (seats.length > SEATS_MAX) throw new RangeError(`${seats.length} seats, and ${SEATS_MAX} are the most`)
  if (new Set(seats).size !== seats.length) throw new RangeError('a seat is named twice')
}

// Lua counts from one. Anything but positions of ours is no answer: whoever asked must not take it for one.
function seatsAt(seats: string[], answer: unknown): string[] {
  return wholeNumbers(answer).map((position) => {
    const seat = seats[position - 1]
    if (seat === undefined) throw new Error(`Redis answered position ${position} of ${seats.length}`)
    return seat
  })
}

function wholeNumbers(answer: unknown): number[] {
  if (!Array.isArray(answer) || !answer.every((entry) => Number.isInteger(entry)))
    throw new Error('Redis answered no list of numbers')
  return answer
}
