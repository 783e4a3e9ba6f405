// What every store of visitors does, in memory, in Redis and in a Redis Cluster: one list of facts over all of them.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { drawScore, orderByDraw } from '#waiting-room/draw.ts'
import type { Room, RoomStore } from '#waiting-room/room-store.ts'
import { openRoomOf, STORES } from './two-stores.ts'

const GONE_MS = 400
const ADMISSION_TTL_MS = 1_500
const NOTHING = { score: null, admission: null }
const SEED = '5e'.repeat(32)

type Scene = { store: RoomStore; room: Room }

const FACTS: Record<string, (scene: Scene) => Promise<void>> = {
  'first come, first served: as many as there is room for come in, the others stand in the order they came': async ({
    store,
    room,
  }) => {
    const places = []
    for (const visitor of ['zoe', 'ann', 'max', 'bob']) places.push(await store.join(room, visitor, -1))
    assert.deepEqual(
      places.map(({ status, ahead, first }) => [status, ahead, first]),
      [
        ['ADMITTED', 0, true],
        ['ADMITTED', 0, true],
        ['WAITING', 0, true],
        ['WAITING', 1, true],
      ],
    )
    assert.ok((places[2]?.score ?? 0) < (places[3]?.score ?? 0))
  },
  'joining again keeps the place, waiting and admitted': async ({ store, room }) => {
    const [a, , c] = [await store.join(room, 'a', -1), await store.join(room, 'b', -1), await store.join(room, 'c', -1)]
    await store.join(room, 'd', -1)
    const [a2, c2] = [await store.join(room, 'a', -1), await store.join(room, 'c', -1)]
    assert.deepEqual([a2.first, a2.status, a2.admission?.no], [false, 'ADMITTED', a.admission?.no])
    assert.deepEqual([c2.first, c2.status, c2.ahead, c2.score], [false, 'WAITING', 0, c.score])
  },
  '200 joins of one visitor at once are one place, and one of them made it': async ({ store, room }) => {
    const full = { ...room, status: 'PAUSED' as const }
    const places = await Promise.all(Array.from({ length: 200 }, () => store.join(full, 'a', -1)))
    assert.equal(places.filter(({ first }) => first).length, 1)
    assert.equal(new Set(places.map(({ score }) => score)).size, 1)
    assert.equal((await store.move(full)).waiting, 1)
  },
  'who leaves frees the place at once, and the next one has it': async ({ store, room }) => {
    for (const visitor of ['a', 'b', 'c', 'd']) await store.join(room, visitor, -1)
    await store.leave(room, ['a'])
    assert.deepEqual(await store.move(room), { waiting: 1, active: 2, admitted: 1 })
    assert.equal((await store.visit(room, 'c', NOTHING)).status, 'ADMITTED')
    assert.equal((await store.visit(room, 'a', NOTHING)).status, 'GONE')
    await store.leave(room, ['d', 'nobody'])
    assert.equal((await store.move(room)).waiting, 0)
  },
  'who is silent is gone: the admitted free their place, the waiting shorten the line; who is heard of keeps theirs':
    async ({ store, room }) => {
      for (const visitor of ['a', 'b', 'c', 'd', 'e']) await store.join(room, visitor, -1)
      for (const until = performance.now() + GONE_MS + 150; performance.now() < until; await sleep(60)) {
        await store.visit(room, 'a', NOTHING)
        await store.visit(room, 'd', NOTHING)
        await store.visit(room, 'e', NOTHING)
      }
      assert.deepEqual(await store.move(room), { waiting: 1, active: 2, admitted: 1 })
      const states = []
      for (const visitor of ['a', 'b', 'c', 'd', 'e']) states.push((await store.visit(room, visitor, NOTHING)).status)
      assert.deepEqual(states, ['ADMITTED', 'GONE', 'GONE', 'ADMITTED', 'WAITING'])
      const back = await store.join(room, 'c', -1)
      assert.deepEqual([back.first, back.status, back.ahead], [true, 'WAITING', 1])
    },
  'who returns within the grace keeps the place, who returns after it does not, with no sweep in between': async ({
    store,
    room,
  }) => {
    for (const visitor of ['a', 'b', 'c', 'd']) await store.join(room, visitor, -1)
    await sleep(GONE_MS / 2)
    assert.equal((await store.visit(room, 'c', NOTHING)).ahead, 0)
    await sleep(GONE_MS + 50)
    for (const visitor of ['a', 'c']) {
      assert.equal((await store.visit(room, visitor, NOTHING)).status, 'GONE')
      assert.equal((await store.visit(room, visitor, { score: 5, admission: null })).status, 'GONE', 'an old ticket')
    }
  },
  'an admission ends at its end, heard of or not; kept for a payment the place stays as long as that': async ({
    store,
    room,
  }) => {
    const [a, b] = [await store.join(room, 'a', -1), await store.join(room, 'b', -1)]
    await store.join(room, 'c', -1)
    assert.ok(a.admission && b.admission)
    assert.equal(a.admission.endMs - a.nowMs, ADMISSION_TTL_MS)
    assert.equal(a.admission.untilMs - a.nowMs, GONE_MS)
    const paying = await store.visit(room, 'b', NOTHING, 3_000)
    assert.ok((paying.admission?.untilMs ?? 0) >= b.nowMs + 3_000)
    for (const until = performance.now() + ADMISSION_TTL_MS + 100; performance.now() < until; await sleep(100)) {
      await store.visit(room, 'a', NOTHING)
      await store.visit(room, 'c', NOTHING)
    }
    assert.equal((await store.visit(room, 'a', NOTHING)).status, 'GONE')
    assert.deepEqual(await store.move(room), { waiting: 0, active: 2, admitted: 1 })
    const later = await store.visit(room, 'b', NOTHING, 3_000)
    assert.equal(later.admission?.untilMs, b.admission.endMs + 3_000, 'asking again and again keeps no place for ever')
  },
  'the crowd before the opening is in the order of the draw, whoever came first; who comes later stands behind':
    async ({ store, room }) => {
      const before = { ...room, status: 'PRE_QUEUE' as const }
      await store.begin(before)
      const crowd = Array.from({ length: 40 }, (_, n) => `visitor-${n}`)
      for (const visitor of crowd) {
        const place = await store.join(before, visitor, drawScore(SEED, visitor))
        assert.deepEqual([place.status, place.first], ['PRE_QUEUE', true])
      }
      assert.deepEqual(await store.move(before), { waiting: 40, active: 0, admitted: 0 }, 'nobody comes in before')
      assert.deepEqual((await store.open(before)).toSorted(), crowd.toSorted())
      // This process has not heard of the opening yet; the store has.
      const late = await store.join(before, 'late', drawScore(SEED, 'late'))
      assert.deepEqual([late.status, late.ahead], ['WAITING', 40])
      assert.equal((await store.move(room)).admitted, 2)
      const order = orderByDraw(SEED, crowd)
      for (const [at, visitor] of order.entries()) {
        const { status, ahead } = await store.visit(room, visitor, NOTHING)
        assert.deepEqual([status, ahead], at < 2 ? ['ADMITTED', 0] : ['WAITING', at - 2])
      }
      assert.equal((await store.visit(room, 'late', NOTHING)).ahead, 38)
      assert.deepEqual((await store.open(room)).toSorted(), crowd.toSorted(), 'opening again changes nothing')
    },
  'paused, closed or with nothing left to sell nobody comes in; the line stays as it is': async ({ store, room }) => {
    for (const change of [{ status: 'PAUSED' as const }, { selling: false }]) {
      const still = { ...room, ...change, round: room.round + 1 }
      await store.begin(still)
      assert.equal((await store.join(still, 'a', -1)).status, 'WAITING')
      assert.deepEqual(await store.move(still), { waiting: 1, active: 0, admitted: 0 })
      assert.equal((await store.join({ ...still, status: 'CLOSED' }, 'b', -1)).status, 'GONE')
      assert.deepEqual(await store.move({ ...still, status: 'OPEN', selling: true }), {
        waiting: 0,
        active: 1,
        admitted: 1,
      })
      await store.forget(still)
    }
  },
  'the operator’s rate is not exceeded, also not after a pause': async ({ store, room }) => {
    const slow = { ...room, activeMax: 1_000, admitPerMinute: 600 }
    const paused = { ...slow, status: 'PAUSED' as const }
    for (let n = 0; n < 40; n++) await store.join(paused, `v${n}`, -1)
    await sleep(200)
    const beganMs = performance.now()
    let admitted = 0
    while (performance.now() - beganMs < 350) {
      admitted += (await store.move(slow)).admitted
      await sleep(20)
    }
    const allowed = 10 + ((performance.now() - beganMs) / 1000) * 10
    assert.ok(admitted >= 3 && admitted <= allowed, `${admitted} of ${allowed.toFixed(1)}`)
  },
  'hold attempts are counted by the second': async ({ store }) => {
    const counted = []
    for (let n = 0; n < 30; n++) {
      counted.push(await store.countAttempts(42, 10))
      await sleep(50)
    }
    assert.equal(counted[0], 0)
    assert.ok(
      counted.some((count) => count > 0 && count <= 210 && count % 10 === 0),
      `${counted}`,
    )
  },
}

for (const [name, makeStore] of STORES) {
  test(`a store in ${name}`, async (t) => {
    const store = await makeStore(t as TestContext, { goneMs: GONE_MS, admissionTtlMs: ADMISSION_TTL_MS })
    let inventoryId = 100
    for (const [fact, prove] of Object.entries(FACTS)) {
      await t.test(fact, async () => {
        const room = openRoomOf({ inventoryId: inventoryId++ })
        await store.begin(room)
        await prove({ store, room })
        await store.forget(room)
      })
    }
  })
}
