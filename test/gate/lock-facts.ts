// The contract of the seat locks as facts: each is true on one server and on a cluster, and the mutants must break some of them.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { newLockToken, type SeatLocks } from '#gate/seat-locks.ts'
import type { Redis } from '#redis/connect-redis.ts'

export const LOCK_TTL_MS = 10_000

/** Locks with this prefix `t` and LOCK_TTL_MS as the longest; the rival has a connection of its own. */
export type LockGround = { locks: SeatLocks; redis: Redis; rival: SeatLocks; rounds: number }
export type LockFact = { name: string; check: (ground: LockGround) => Promise<void> }

const [ann, ben] = [newLockToken(), newLockToken()]
let show = 0
const newShow = () => ++show

export const lockFacts: LockFact[] = [
  {
    name: 'all seats or none, and exactly those in the way are named',
    async check({ locks }) {
      const id = newShow()
      assert.deepEqual(await locks.holdAll(id, ['F6', 'F8'], ann, LOCK_TTL_MS), [])
      assert.deepEqual(await locks.holdAll(id, ['F5', 'F6', 'F7', 'F8'], ben, LOCK_TTL_MS), ['F6', 'F8'])
      assert.deepEqual(await locks.remaining(id, ['F5', 'F7'], ben), [0, 0])
      assert.equal(await locks.hold(id, 'F5', ben, LOCK_TTL_MS), true)
      assert.equal(await locks.hold(id, 'F6', ben, LOCK_TTL_MS), false)
    },
  },
  {
    name: 'the same token comes in again and begins a new time',
    async check({ locks }) {
      const id = newShow()
      await locks.holdAll(id, ['F5'], ann, 1_000)
      assert.deepEqual(await locks.holdAll(id, ['F5', 'F6'], ann, LOCK_TTL_MS), [])
      const left = await locks.remaining(id, ['F5', 'F6'], ann)
      assert.ok(
        left.every((ms) => ms > LOCK_TTL_MS - 1_000 && ms <= LOCK_TTL_MS),
        `${left}`,
      )
    },
  },
  {
    name: 'only the token releases, and what is not its own is left as it is',
    async check({ locks }) {
      const id = newShow()
      await locks.holdAll(id, ['F5'], ann, LOCK_TTL_MS)
      await locks.holdAll(id, ['F6'], ben, LOCK_TTL_MS)
      assert.deepEqual(await locks.releaseAll(id, ['F5', 'F6', 'F7'], ben), ['F6'])
      assert.equal(await locks.hold(id, 'F5', ben, LOCK_TTL_MS), false)
      assert.deepEqual(await locks.releaseAll(id, ['F5'], ann), ['F5'])
      assert.equal(await locks.hold(id, 'F5', ben, LOCK_TTL_MS), true)
    },
  },
  {
    name: 'all are extended or none, by the token only',
    async check({ locks }) {
      const id = newShow()
      await locks.holdAll(id, ['F5', 'F6'], ann, 1_000)
      await locks.holdAll(id, ['F7'], ben, 1_000)
      assert.deepEqual(await locks.extendAll(id, ['F5', 'F6', 'F7', 'F8'], ann, LOCK_TTL_MS), ['F7', 'F8'])
      assert.ok((await locks.remaining(id, ['F5', 'F6'], ann)).every((ms) => ms > 0 && ms <= 1_000))
      assert.deepEqual(await locks.extendAll(id, ['F5', 'F6'], ann, LOCK_TTL_MS), [])
      assert.ok((await locks.remaining(id, ['F5', 'F6'], ann)).every((ms) => ms > 1_000))
    },
  },
  {
    name: 'a lock ends by itself: then it is another’s, and the old token can neither extend nor release it',
    async check({ locks }) {
      const id = newShow()
      await locks.hold(id, 'F5', ann, 60)
      await sleep(90)
      assert.deepEqual(await locks.remaining(id, ['F5'], ann), [0])
      assert.equal(await locks.hold(id, 'F5', ben, LOCK_TTL_MS), true)
      assert.deepEqual(await locks.extendAll(id, ['F5'], ann, LOCK_TTL_MS), ['F5'])
      assert.deepEqual(await locks.releaseAll(id, ['F5'], ann), [])
      assert.ok(((await locks.remaining(id, ['F5'], ben))[0] ?? 0) > 0)
    },
  },
  {
    name: 'two tokens race for overlapping seats: one has all of its own, the other none',
    async check({ locks, rival, rounds }) {
      for (let round = 0; round < rounds; round++) {
        const id = newShow()
        const [a, b] = [newLockToken(), newLockToken()]
        const taken = await Promise.all([
          locks.holdAll(id, ['F5', 'F6'], a, LOCK_TTL_MS),
          rival.holdAll(id, ['F7', 'F6'], b, LOCK_TTL_MS),
        ])
        assert.deepEqual(taken.map((seats) => seats.join()).sort(), ['', 'F6'], `round ${round}`)
        const won = taken[0]?.length === 0 ? a : b
        const lost = won === a ? b : a
        const seats = won === a ? ['F5', 'F6'] : ['F7', 'F6']
        assert.ok(
          (await rival.remaining(id, seats, won)).every((ms) => ms > 0),
          `round ${round}`,
        )
        assert.deepEqual(await locks.remaining(id, ['F5', 'F6', 'F7'], lost), [0, 0, 0], `round ${round}`)
      }
    },
  },
  {
    name: 'what we did not write locks nothing: another type, a key without an end, an end beyond any lock’s',
    async check({ locks, redis }) {
      const id = newShow()
      await redis.rpush(`t:{${id}}:F5`, 'planted')
      await redis.set(`t:{${id}}:F6`, 'planted')
      await redis.set(`t:{${id}}:F7`, 'planted', 'PX', LOCK_TTL_MS * 100)
      await redis.set(`t:{${id}}:F8`, 'planted', 'PX', LOCK_TTL_MS)
      const planted = ['F5', 'F6', 'F7']
      assert.deepEqual(await locks.releaseAll(id, planted, ann), [])
      assert.deepEqual(await locks.extendAll(id, planted, ann, LOCK_TTL_MS), planted)
      assert.deepEqual(await locks.remaining(id, planted, ann), [0, 0, 0])
      assert.deepEqual(await locks.holdAll(id, [...planted, 'F8'], ann, LOCK_TTL_MS), ['F8'])
      assert.deepEqual(await locks.holdAll(id, planted, ann, LOCK_TTL_MS), [])
      assert.ok((await locks.remaining(id, planted, ann)).every((ms) => ms > 0 && ms <= LOCK_TTL_MS))
    },
  },
  {
    name: 'a server that forgot the scripts is told them again',
    async check({ locks, redis }) {
      const id = newShow()
      const forget = async () => {
        const nodes = 'nodes' in redis ? redis.nodes('master') : [redis]
        for (const node of nodes) await node.script('FLUSH')
      }
      await forget()
      assert.deepEqual(await locks.holdAll(id, ['F5'], ann, LOCK_TTL_MS), [])
      await forget()
      assert.deepEqual(await locks.extendAll(id, ['F5'], ann, LOCK_TTL_MS), [])
      await forget()
      assert.ok(((await locks.remaining(id, ['F5'], ann))[0] ?? 0) > 0)
      await forget()
      assert.deepEqual(await locks.releaseAll(id, ['F5'], ann), ['F5'])
    },
  },
  {
    name: 'seat codes may be anything: braces, spaces, letters of any script',
    async check({ locks }) {
      const id = newShow()
      const seats = ['{1}', '}{', 'Loge links 3', 'פ', '座']
      assert.deepEqual(await locks.holdAll(id, seats, ann, LOCK_TTL_MS), [])
      assert.deepEqual(await locks.holdAll(id, seats, ben, LOCK_TTL_MS), seats)
      assert.deepEqual(await locks.releaseAll(id, seats, ann), seats)
    },
  },
]
