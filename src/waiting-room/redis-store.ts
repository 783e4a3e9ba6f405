// The visitors of several processes, in Redis: sorted sets by place, by last sign of life and by end of admission, all of one inventory in one slot.
import type { Redis } from '#redis/connect-redis.ts'
import { runScript, type Script } from '#redis/script.ts'
import { BEGIN, COUNT_ATTEMPTS, JOIN, KEY_NAMES, LEAVE, MOVE, OPEN, VISIT } from './redis-scripts.ts'
import type { Place, Room, RoomStore, StoreRules } from './room-store.ts'

// Below Redis' time limit of a command also for a crowd: 100,000 visitors come in 20 answers.
const DRAWN_PAGE = 5_000

export function redisStore(redis: Redis, { goneMs, admissionTtlMs }: StoreRules): RoomStore {
  function run(move: Script, room: Room, ...own: (string | number)[]): Promise<unknown> {
    const { status, selling, activeMax, admitPerMinute } = room
    const settings = [status, selling ? 1 : 0, activeMax, admitPerMinute ?? 0, goneMs, admissionTtlMs]
    return runScript(redis, move, keysOf(room), [...settings, ...own])
  }

  return {
    async begin(room) {
      await run(BEGIN, room)
    },
    async join(room, visitor, drawnScore) {
      return placeOf(await run(JOIN, room, visitor, drawnScore))
    },
    async visit(room, visitor, { score, admission }, keepMs = 0) {
      const pass = admission ? [admission.no, Math.floor(admission.untilMs), Math.floor(admission.endMs)] : ['', '', '']
      return placeOf(await run(VISIT, room, visitor, Math.floor(keepMs), score ?? '', ...pass))
    },
    async leave(room, visitors) {
      if (visitors.length > 0) await run(LEAVE, room, ...visitors)
    },
    async open(room) {
      await run(OPEN, room)
      const drawn = new Set<string>()
      for (let from = 0; ; from += DRAWN_PAGE) {
        const page = await redis.zrange(keyOf(room, 'drawn'), String(from), String(from + DRAWN_PAGE - 1))
        for (const visitor of page) drawn.add(visitor)
        if (page.length < DRAWN_PAGE) return [...drawn]
      }
    },
    async move(room) {
      const [waiting = 0, active = 0, admitted = 0] = (await run(MOVE, room)) as number[]
      return { waiting, active, admitted }
    },
    async countAttempts(inventoryId, attempts) {
      return Number(await runScript(redis, COUNT_ATTEMPTS, [`{${inventoryId}}:attempts`], [attempts]))
    },
    async forget(room) {
      await redis.unlink(...keysOf(room))
    },
  }
}

type Round = Pick<Room, 'inventoryId' | 'round'>

function keysOf(round: Round): string[] {
  return KEY_NAMES.map((name) => keyOf(round, name))
}

function keyOf({ inventoryId, round }: Round, name: (typeof KEY_NAMES)[number]): string {
  return `{${inventoryId}}:wait:${round}:${name}`
}

function placeOf(answer: unknown): Place {
  const [status, first, score, ahead, free, nowMs, freed, timeMs, departed, waitedMs, no, untilMs, endMs] = answer as [
    Place['status'],
    ...(string | number)[],
  ]
  return {
    status,
    first: first === 1,
    score: Number(score),
    ahead: Number(ahead),
    free: Number(free),
    pace: { freed: Number(freed), timeMs: Number(timeMs), departed: Number(departed), waitedMs: Number(waitedMs) },
    admission: no === '' ? null : { no: Number(no), untilMs: Number(untilMs), endMs: Number(endMs) },
    nowMs: Number(nowMs),
  }
}
