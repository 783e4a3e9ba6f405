// A store that loses everything: nobody loses their place who comes back with their ticket, and the limit holds although the store knows of no admission.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '#test/support/redis.ts'
import { drawScore, orderByDraw } from '#waiting-room/draw.ts'
import { memoryStore } from '#waiting-room/memory-store.ts'
import type { Place, RoomStore } from '#waiting-room/room-store.ts'
import { openRedisStore, openRoomOf } from './two-stores.ts'

const RULES = { goneMs: 1_000, admissionTtlMs: 60_000 }
const SEED = 'ab'.repeat(32)
const ACTIVE_MAX = 5
const NOBODY = { score: null, admission: null }

type Fragile = { store: () => RoomStore; lose: () => Promise<void> }

const FRAGILE: [string, (t: TestContext) => Promise<Fragile>][] = [
  [
    'the process with the store in its memory is started again',
    async () => {
      let store = memoryStore(RULES)
      const lose = async () => {
        store = memoryStore(RULES)
      }
      return { store: () => store, lose }
    },
  ],
  [
    'Redis is killed and comes back empty',
    async (t) => {
      const server = await startRedis(t)
      const store = await openRedisStore(t, [server.url], RULES)
      return {
        store: () => store,
        async lose() {
          await server.kill()
          await server.start()
          for (let left = 100; left > 0 && (await store.countAttempts(1, 1).catch(() => null)) === null; left--)
            await sleep(50)
        },
      }
    },
  ],
]

for (const [loss, makeStore] of FRAGILE) {
  test(`${loss}: places, admissions and the limit outlive it`, async (t) => {
    const { store, lose } = await makeStore(t as TestContext)
    const before = openRoomOf({ status: 'PRE_QUEUE', activeMax: ACTIVE_MAX })
    const room = openRoomOf({ activeMax: ACTIVE_MAX })
    await store().begin(before)
    const early = Array.from({ length: 20 }, (_, n) => `early-${n}`)
    const late = Array.from({ length: 20 }, (_, n) => `late-${n}`)
    const places = new Map<string, Place>()
    for (const visitor of early) await store().join(before, visitor, drawScore(SEED, visitor))
    await store().open(before)
    for (const visitor of late) await store().join(room, visitor, drawScore(SEED, visitor))
    await store().move(room)
    const order = [...orderByDraw(SEED, early), ...late]
    for (const visitor of order) places.set(visitor, await store().visit(room, visitor, NOBODY))
    assert.deepEqual(
      order.filter((visitor) => places.get(visitor)?.status === 'ADMITTED'),
      order.slice(0, ACTIVE_MAX),
    )

    await lose()

    // The crowd comes back from behind; the last of the admitted does not, and one who waited joins anew before showing the ticket.
    const impatient = order[10] ?? ''
    const silent = order[ACTIVE_MAX - 1] ?? ''
    assert.equal((await store().join(room, impatient, drawScore(SEED, impatient))).status, 'WAITING')
    const passes = new Map([...places].flatMap(([visitor, { admission }]) => (admission ? [[visitor, admission]] : [])))
    for (const visitor of order.toReversed()) {
      if (visitor === silent) continue
      const { score, admission } = places.get(visitor) as Place
      places.set(visitor, await store().visit(room, visitor, { score, admission }))
    }
    assert.equal((await store().move(room)).admitted, 0, 'nobody is admitted while unknown passes may be good')
    for (const [at, visitor] of order.entries()) {
      if (visitor === silent) continue
      const { status, ahead } = await store().visit(room, visitor, NOBODY)
      if (at < ACTIVE_MAX) assert.equal(status, 'ADMITTED', visitor)
      else assert.deepEqual([status, ahead], ['WAITING', at - ACTIVE_MAX], visitor)
    }

    // From now on each moment: the passes that are good and those the store knows are never more than the limit together.
    let admitted = 0
    for (const until = performance.now() + RULES.goneMs + 400; performance.now() < until; await sleep(50)) {
      for (const visitor of order) if (visitor !== silent) await store().visit(room, visitor, NOBODY)
      const count = await store().move(room)
      admitted += count.admitted
      const { nowMs } = await store().visit(room, 'nobody', NOBODY)
      const unknown = (passes.get(silent)?.untilMs ?? 0) > nowMs ? 1 : 0
      assert.ok(count.active + unknown <= ACTIVE_MAX, `${count.active} active and ${unknown} with a pass`)
    }
    assert.equal(admitted, 1, 'the place of the one who did not come back')
    assert.equal((await store().visit(room, order[ACTIVE_MAX] ?? '', NOBODY)).status, 'ADMITTED', 'goes to who is next')
    const stranger = await store().visit(room, 'stranger', { score: 1, admission: null })
    assert.equal(stranger.status, 'GONE', 'after a minute old tickets are not believed any more')
  })
}
