// Facts about what is sold and what is kept off sale: confirming, cancelling wholly and partly, blocking.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { book, type Fact, glance, hold, openRow, place, START } from './ground.ts'

const ann = 'ann'
const ben = 'ben'
const GA = { code: 'GA', capacity: 4 }

export const sellingFacts: Fact[] = [
  {
    name: 'a hold that is checked out becomes a booking with every seat and quantity, once',
    async check(ground) {
      const inventoryId = await openRow(ground, { pools: [GA] })
      const pools = [{ code: 'GA', quantity: 3 }]
      const holdId = await hold(ground, { inventoryId, customerId: ann, seats: ['F1', 'F2'], pools })
      const bookingId = randomUUID()
      const early = await ground.store.confirm(inventoryId, holdId, bookingId)
      assert.deepEqual([early.outcome, early.status], ['NOT_HELD', 'HELD'])
      await ground.store.checkOut(inventoryId, holdId, 0)
      const sold = await ground.store.confirm(inventoryId, holdId, bookingId)
      assert.deepEqual({ ...sold }, { outcome: 'BOOKED', status: 'BOOKED', bookingId, decidedAt: START })
      // B036: sold is not counted as held any more.
      assert.equal(await glance(ground, inventoryId), 'F1 BOOKED, F2 BOOKED, GA 0+3/4')
      const again = await ground.store.confirm(inventoryId, holdId, randomUUID())
      assert.deepEqual([again.outcome, again.bookingId], ['ALREADY_BOOKED', bookingId])
      assert.equal((await ground.store.confirm(inventoryId, randomUUID(), bookingId)).outcome, 'NOT_FOUND')
      const seat = (await ground.store.read(inventoryId))?.seats[0]
      assert.deepEqual({ ...seat }, { code: 'F1', status: 'BOOKED', holdId: null, expiresAt: null, bookingId })
      assert.equal((await ground.store.readHold(inventoryId, holdId))?.bookingId, bookingId)
    },
  },
  {
    name: 'a cancelled booking is back on sale at once; cancelling it again is refused',
    async check(ground) {
      const inventoryId = await openRow(ground, { pools: [GA] })
      const pools = [{ code: 'GA', quantity: 1 }]
      const { bookingId } = await book(ground, { inventoryId, customerId: ann, seats: ['F2', 'F1'], pools })
      const cancelled = await ground.store.cancel(inventoryId, bookingId)
      const nothing = { seatsLeft: 0, poolUnitsLeft: 0, decidedAt: START }
      assert.deepEqual({ ...cancelled }, { outcome: 'CANCELLED', freedSeats: ['F1', 'F2'], ...nothing })
      assert.equal(await glance(ground, inventoryId), 'GA 0+0/4')
      const again = await ground.store.cancel(inventoryId, bookingId)
      const none = { seatsLeft: null, poolUnitsLeft: null, decidedAt: START }
      assert.deepEqual({ ...again }, { outcome: 'NOT_BOOKED', freedSeats: [], ...none })
      await book(ground, { inventoryId, customerId: ben, seats: ['F1', 'F2'] })
    },
  },
  {
    name: 'a part of a booking can be cancelled, seat by seat and unit by unit, until nothing is left',
    async check(ground) {
      const inventoryId = await openRow(ground, { pools: [GA] })
      const pools = [{ code: 'GA', quantity: 3 }]
      const { bookingId } = await book(ground, { inventoryId, customerId: ann, seats: ['F1', 'F2', 'F3'], pools })
      const cancel = async (seats: string[], quantity: number) => {
        const lines = { seats, pools: quantity > 0 ? [{ code: 'GA', quantity }] : [] }
        const { outcome, freedSeats, seatsLeft, poolUnitsLeft } = await ground.store.cancel(
          inventoryId,
          bookingId,
          lines,
        )
        return [outcome, freedSeats.join(), seatsLeft, poolUnitsLeft].join(' ')
      }
      assert.equal(await cancel(['F2'], 0), 'CANCELLED F2 2 3')
      assert.equal(await cancel([], 2), 'CANCELLED  2 1')
      assert.equal(await glance(ground, inventoryId), 'F1 BOOKED, F3 BOOKED, GA 0+1/4')
      assert.equal(await cancel(['F1'], 1), 'CANCELLED F1 1 0')
      assert.equal(await cancel(['F3'], 0), 'CANCELLED F3 0 0')
      assert.equal(await cancel(['F3'], 0), 'NOT_BOOKED   ')
    },
  },
  {
    name: 'a cancellation that names what is not the booking’s changes nothing',
    async check(ground) {
      const inventoryId = await openRow(ground, { pools: [GA, { code: 'VIP', capacity: 1 }] })
      const pools = [{ code: 'GA', quantity: 2 }]
      const { bookingId } = await book(ground, { inventoryId, customerId: ann, seats: ['F1'], pools })
      await book(ground, { inventoryId, customerId: ben, seats: ['F2'], pools })
      const before = await ground.store.read(inventoryId)
      const wrong = [
        { seats: ['F1', 'F2'], pools: [] },
        { seats: ['F1', 'Z9'], pools: [] },
        { seats: ['F1'], pools: [{ code: 'GA', quantity: 3 }] },
        { seats: ['F1'], pools: [{ code: 'GA', quantity: 0 }] },
        { seats: ['F1'], pools: [{ code: 'VIP', quantity: 1 }] },
        { seats: [], pools: [] },
      ]
      for (const lines of wrong) {
        const { outcome } = await ground.store.cancel(inventoryId, bookingId, lines)
        assert.equal(outcome, 'NOT_BOOKED', JSON.stringify(lines))
      }
      assert.equal((await ground.store.cancel(inventoryId, randomUUID())).outcome, 'NOT_BOOKED')
      assert.deepEqual(await ground.store.read(inventoryId), before)
    },
  },
  {
    name: 'free seats are blocked and unblocked all together, and what stands in the way is named',
    async check(ground) {
      const inventoryId = await openRow(ground)
      await hold(ground, { inventoryId, customerId: ann, seats: ['F1'] })
      await book(ground, { inventoryId, customerId: ben, seats: ['F2'] })
      const { store } = ground
      assert.deepEqual(
        { ...(await store.block(inventoryId, ['F4', 'F3'], 'manager', 'VIP')) },
        { outcome: 'BLOCKED', blocking: [] },
      )
      const refused = await store.block(inventoryId, ['F5', 'F3', 'F2', 'F1', 'Z9'], 'manager', 'VIP')
      const blocking = [
        { code: 'F1', reason: 'held' },
        { code: 'F2', reason: 'booked' },
        { code: 'F3', reason: 'blocked' },
        { code: 'Z9', reason: 'unknown' },
      ]
      assert.deepEqual({ ...refused }, { outcome: 'UNAVAILABLE', blocking })
      assert.equal(await glance(ground, inventoryId), 'F1 HELD, F2 BOOKED, F3 BLOCKED, F4 BLOCKED')
      assert.equal((await place(ground, { inventoryId, customerId: ann, seats: ['F3'] })).outcome, 'UNAVAILABLE')
      const early = await store.unblock(inventoryId, ['F3', 'F5'])
      assert.deepEqual({ ...early }, { outcome: 'UNAVAILABLE', blocking: [{ code: 'F5', reason: 'available' }] })
      assert.equal((await store.unblock(inventoryId, ['F3', 'F4'])).outcome, 'UNBLOCKED')
      await hold(ground, { inventoryId, customerId: ann, seats: ['F3', 'F4'] })
    },
  },
  {
    name: 'every change adds one to the version, and what changes nothing adds none',
    async check(ground) {
      const inventoryId = await openRow(ground)
      const { store } = ground
      let version = 1
      const grows = async (by: number, what: string) => {
        version += by
        assert.equal((await store.read(inventoryId))?.version, version, what)
      }
      const first = await hold(ground, { inventoryId, customerId: ann, seats: ['F1'] })
      await grows(1, 'hold')
      await place(ground, { inventoryId, customerId: ben, seats: ['F1'] })
      await grows(0, 'refusal')
      await store.extend(inventoryId, first, 1_000, 2)
      await grows(1, 'extend')
      const second = await hold(ground, { inventoryId, customerId: ann, seats: ['F2'] })
      await grows(2, 'replacement: a release and a hold')
      await store.checkOut(inventoryId, second, 0)
      await grows(1, 'check out')
      const bookingId = randomUUID()
      await store.confirm(inventoryId, second, bookingId)
      await grows(1, 'confirm')
      await store.confirm(inventoryId, second, bookingId)
      await store.extend(inventoryId, second, 1_000, 9)
      await store.release(inventoryId, second)
      await grows(0, 'what was refused')
      await store.cancel(inventoryId, bookingId)
      await grows(1, 'cancel')
      await store.block(inventoryId, ['F5'], 'manager', 'wet')
      await store.unblock(inventoryId, ['F5'])
      await grows(2, 'block and unblock')
    },
  },
]
