// Facts about counted pools and about batches: many requests decided together as if one after another.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { book, type Fact, type Ground, glance, hold, openRow, place, requestOf, type Wish } from './ground.ts'

const ann = 'ann'
const ben = 'ben'

async function outcomesOf({ store }: Ground, wishes: Wish[], judgeOnly: number[] = []): Promise<string[]> {
  return (await store.place(wishes.map(requestOf), new Set(judgeOnly))).map(({ outcome }) => outcome)
}

const ga = (quantity: number) => [{ code: 'GA', quantity }]

export const poolFacts: Fact[] = [
  {
    name: 'B003, B021: a pool is sold to its capacity and its intended overbooking, and never one unit more',
    async check(ground) {
      const inventoryId = await ground.store.open({ seats: [], pools: [{ code: 'GA', capacity: 3, overbookLimit: 1 }] })
      await book(ground, { inventoryId, customerId: ann, pools: ga(3) })
      await hold(ground, { inventoryId, customerId: ben, pools: ga(1) })
      const outcome = await place(ground, { inventoryId, customerId: 'cleo', pools: ga(1) })
      assert.deepEqual(outcome.outcome === 'UNAVAILABLE' && outcome.blocking, [{ code: 'GA', reason: 'sold_out' }])
      assert.equal(await glance(ground, inventoryId), 'GA 1+3/4')
    },
  },
  {
    name: 'B022: seats and quantities of one hold come and go together',
    async check(ground) {
      const inventoryId = await openRow(ground, {
        pools: [
          { code: 'GA', capacity: 2 },
          { code: 'VIP', capacity: 1 },
        ],
      })
      await hold(ground, { inventoryId, customerId: ann, seats: ['F1'], pools: ga(2) })
      const refused = await place(ground, { inventoryId, customerId: ben, seats: ['F2'], pools: ga(1) })
      assert.deepEqual(refused.outcome === 'UNAVAILABLE' && refused.blocking, [{ code: 'GA', reason: 'sold_out' }])
      const unknown = await place(ground, {
        inventoryId,
        customerId: ben,
        seats: ['F1'],
        pools: [{ code: 'XX', quantity: 1 }],
      })
      const blocking = [
        { code: 'F1', reason: 'held' },
        { code: 'XX', reason: 'unknown' },
      ]
      assert.deepEqual(unknown.outcome === 'UNAVAILABLE' && unknown.blocking, blocking)
      assert.equal(await glance(ground, inventoryId), 'F1 HELD, GA 2+0/2, VIP 0+0/1')
    },
  },
  {
    name: 'B039: one’s own quantities are room for oneself: the last ones can be asked for again, more of them or fewer',
    async check(ground) {
      const inventoryId = await ground.store.open({ seats: [], pools: [{ code: 'GA', capacity: 4 }] })
      const first = await hold(ground, { inventoryId, customerId: ann, pools: ga(3) })
      const same = await place(ground, { inventoryId, customerId: ann, pools: ga(3) })
      assert.equal(same.outcome === 'SAME' && same.holdId, first)
      await hold(ground, { inventoryId, customerId: ann, pools: ga(4) })
      assert.equal(await glance(ground, inventoryId), 'GA 4+0/4')
      await hold(ground, { inventoryId, customerId: ann, pools: ga(1) })
      assert.equal((await place(ground, { inventoryId, customerId: ann, pools: ga(5) })).outcome, 'UNAVAILABLE')
      assert.equal(await glance(ground, inventoryId), 'GA 1+0/4')
    },
  },
  {
    name: 'the limit counts a seat and its fare class once: the larger of seats and quantities',
    async check(ground) {
      const inventoryId = await openRow(ground, { pools: [{ code: 'GA', capacity: 9 }] })
      const wish = { inventoryId, customerId: ann, unitsMax: 3 }
      await book(ground, { ...wish, seats: ['F1', 'F2'], pools: ga(2) })
      await hold(ground, { ...wish, seats: ['F3'], pools: ga(1) })
      const outcome = await place(ground, { ...wish, pools: ga(2) })
      assert.deepEqual([outcome.outcome, outcome.outcome === 'LIMIT' && outcome.countedUnits], ['LIMIT', 2])
    },
  },
  {
    name: 'a quantity below one is a broken caller: nothing is written',
    async check(ground) {
      const inventoryId = await openRow(ground, { pools: [{ code: 'GA', capacity: 9 }] })
      for (const quantity of [0, -1])
        await assert.rejects(place(ground, { inventoryId, customerId: ann, seats: ['F1'], pools: ga(quantity) }))
      assert.equal(await glance(ground, inventoryId), 'GA 0+0/9')
    },
  },
]

export const batchFacts: Fact[] = [
  {
    name: 'a batch answers each request in its place, over several inventories, as one change of each',
    async check(ground) {
      const one = await openRow(ground)
      const two = await openRow(ground)
      await hold(ground, { inventoryId: two, customerId: 'cleo', seats: ['F1'] })
      const outcomes = await outcomesOf(ground, [
        { inventoryId: two, customerId: ann, seats: ['F1', 'F2'] },
        { inventoryId: one, customerId: ann, seats: ['F1', 'F2'] },
        { inventoryId: 999, customerId: ann, seats: ['F1'] },
        { inventoryId: two, customerId: ben, seats: ['F2'] },
        { inventoryId: one, customerId: ben, seats: ['F3'] },
      ])
      assert.deepEqual(outcomes, ['UNAVAILABLE', 'HELD', 'NOT_FOUND', 'HELD', 'HELD'])
      assert.equal(await glance(ground, one), 'F1 HELD, F2 HELD, F3 HELD')
      assert.equal(await glance(ground, two), 'F1 HELD, F2 HELD')
      assert.equal((await ground.store.read(one))?.version, 2)
      assert.equal((await ground.store.read(two))?.version, 3)
      assert.deepEqual(await ground.store.place([]), [])
    },
  },
  {
    name: 'a request that is only judged is refused for what stood there before the batch, else deferred, and never wins',
    async check(ground) {
      const inventoryId = await openRow(ground)
      await hold(ground, { inventoryId, customerId: 'cleo', seats: ['F8'] })
      const wish = { inventoryId, customerId: ann }
      const outcomes = await outcomesOf(
        ground,
        [
          { ...wish, seats: ['F1'] },
          { inventoryId, customerId: ben, seats: ['F1', 'F2'] },
          { inventoryId, customerId: 'dora', seats: ['F1', 'F8'] },
          { ...wish, seats: ['F5'] },
          { inventoryId, customerId: 'emil', seats: ['F1', 'F2', 'F3'], unitsMax: 2 },
        ],
        [1, 2, 3, 4],
      )
      assert.deepEqual(outcomes, ['HELD', 'DEFERRED', 'UNAVAILABLE', 'DEFERRED', 'LIMIT'])
      assert.equal(await glance(ground, inventoryId), 'F1 HELD, F8 HELD')
    },
  },
  {
    name: 'two requests that may both win and name one seat: the whole batch fails and nothing is written',
    async check(ground) {
      const one = await openRow(ground)
      const two = await openRow(ground)
      const wishes = [
        { inventoryId: one, customerId: 'cleo', seats: ['F1'] },
        { inventoryId: two, customerId: ann, seats: ['F1', 'F2'] },
        { inventoryId: two, customerId: ben, seats: ['F2', 'F3'] },
      ]
      await assert.rejects(outcomesOf(ground, wishes))
      assert.equal(await glance(ground, one), '')
      assert.equal(await glance(ground, two), '')
      assert.equal((await ground.store.read(two))?.version, 1)
    },
  },
  {
    name: 'a request that names a seat twice fails and nothing is written',
    async check(ground) {
      const inventoryId = await openRow(ground)
      await assert.rejects(place(ground, { inventoryId, customerId: ann, seats: ['F1', 'F1'] }))
      assert.equal(await glance(ground, inventoryId), '')
    },
  },
  {
    name: 'a hold id that was used before cannot be granted again',
    async check(ground) {
      const inventoryId = await openRow(ground)
      const holdId = randomUUID()
      await hold(ground, { inventoryId, customerId: ann, holdId, seats: ['F1'] })
      await assert.rejects(place(ground, { inventoryId, customerId: ben, holdId, seats: ['F2'] }))
      assert.equal(await glance(ground, inventoryId), 'F1 HELD')
    },
  },
  {
    name: 'pools let requests in one after another: one that is too big does not stand in the way of a smaller one behind it',
    async check(ground) {
      const inventoryId = await ground.store.open({ seats: [], pools: [{ code: 'GA', capacity: 5 }] })
      const wishes = [3, 3, 2, 1].map((quantity) => ({ inventoryId, customerId: randomUUID(), pools: ga(quantity) }))
      assert.deepEqual(await outcomesOf(ground, wishes), ['HELD', 'UNAVAILABLE', 'HELD', 'UNAVAILABLE'])
      assert.equal(await glance(ground, inventoryId), 'GA 5+0/5')
    },
  },
  {
    name: 'a refused seat leaves its quantity to those behind it; a replaced hold gives its own back to them',
    async check(ground) {
      const inventoryId = await openRow(ground, { pools: [{ code: 'GA', capacity: 4 }] })
      await hold(ground, { inventoryId, customerId: 'cleo', seats: ['F1'] })
      await hold(ground, { inventoryId, customerId: ann, pools: ga(4) })
      const outcomes = await outcomesOf(ground, [
        { inventoryId, customerId: ben, seats: ['F1'], pools: ga(1) },
        { inventoryId, customerId: ann, pools: ga(1) },
        { inventoryId, customerId: 'dora', pools: ga(3) },
      ])
      assert.deepEqual(outcomes, ['UNAVAILABLE', 'HELD', 'HELD'])
      assert.equal(await glance(ground, inventoryId), 'F1 HELD, GA 4+0/4')
    },
  },
  {
    name: 'B013: two clicks of one customer on the last units in one batch: one hold, and the second click is asked again, not refused',
    async check(ground) {
      const inventoryId = await ground.store.open({ seats: [], pools: [{ code: 'GA', capacity: 2 }] })
      const wish = { inventoryId, customerId: ann, pools: ga(2) }
      assert.deepEqual(await outcomesOf(ground, [wish, wish], [1]), ['HELD', 'DEFERRED'])
      assert.deepEqual(await outcomesOf(ground, [wish]), ['SAME'])
    },
  },
]
