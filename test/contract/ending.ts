// Facts about time: extending, checking out, releasing and lapsing, down to the microsecond.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  book,
  type Fact,
  type Ground,
  glance,
  HOLD_LIFE_MS,
  HOLD_TTL_MS,
  hold,
  later,
  openRow,
  place,
  START,
} from './ground.ts'

const ann = 'ann'
const ben = 'ben'
const END = later(START, HOLD_TTL_MS)

/** Ann's F1 and F2 with both places of GA, held or (paying) checked out, until END. */
async function annHolds(ground: Ground, paying: boolean): Promise<{ inventoryId: number; holdId: string }> {
  const inventoryId = await openRow(ground, { pools: [{ code: 'GA', capacity: 2 }] })
  const pools = [{ code: 'GA', quantity: 2 }]
  const holdId = await hold(ground, { inventoryId, customerId: ann, seats: ['F1', 'F2'], pools })
  if (paying) await ground.store.checkOut(inventoryId, holdId, 0)
  return { inventoryId, holdId }
}

export const endingFacts: Fact[] = [
  {
    name: 'one microsecond before its end a hold is whole: shown, extended, checked out, paid, and in the way of others',
    async check(ground) {
      const last = later(END, 0, -1)
      const held = await annHolds(ground, false)
      const paying = await annHolds(ground, true)
      const released = await annHolds(ground, false)
      await ground.at(last)
      const { store } = ground
      const wish = { inventoryId: held.inventoryId, customerId: ben, pools: [{ code: 'GA', quantity: 1 }] }
      const other = await place(ground, { ...wish, seats: ['F1'] })
      const blocking = [
        { code: 'F1', reason: 'held' },
        { code: 'GA', reason: 'sold_out' },
      ]
      assert.deepEqual(other.outcome === 'UNAVAILABLE' && other.blocking, blocking)
      assert.equal(await glance(ground, held.inventoryId), 'F1 HELD, F2 HELD, GA 2+0/2')
      assert.equal((await store.readHold(held.inventoryId, held.holdId))?.status, 'HELD')
      assert.equal(await store.expire(held.inventoryId), 0)
      assert.equal((await store.extend(held.inventoryId, held.holdId, 1_000, 1)).expiresAt, later(last, 1_000))
      assert.equal((await store.confirm(paying.inventoryId, paying.holdId, randomUUID())).outcome, 'BOOKED')
      assert.equal((await store.release(released.inventoryId, released.holdId)).outcome, 'RELEASED')
    },
  },
  {
    name: 'B035, B041: at its end exactly a hold is over on every path, with no worker running',
    async check(ground) {
      // One inventory a path: each write tidies, and no path may need another to have tidied before it.
      const paths = await Promise.all(Array.from({ length: 6 }, () => annHolds(ground, false)))
      const paying = await annHolds(ground, true)
      await ground.at(END)
      const { store } = ground
      const [read, extended, checkedOut, released, taken, blocked] = paths as [typeof paying, ...(typeof paying)[]]
      assert.ok(extended && checkedOut && released && taken && blocked)

      assert.equal(await glance(ground, read.inventoryId), 'GA 0+0/2')
      const shown = await store.readHold(read.inventoryId, read.holdId)
      assert.deepEqual([shown?.status, shown?.expiresAt], ['EXPIRED', END])
      assert.equal((await store.read(read.inventoryId))?.version, 2, 'reading changes nothing')

      const gone = { outcome: 'EXPIRED', status: 'EXPIRED', expiresAt: END, decidedAt: END }
      assert.deepEqual({ ...(await store.extend(extended.inventoryId, extended.holdId, 1_000, 9)) }, gone)
      assert.deepEqual({ ...(await store.checkOut(checkedOut.inventoryId, checkedOut.holdId, 1_000)) }, gone)
      const ended = await store.release(released.inventoryId, released.holdId)
      assert.deepEqual({ ...ended }, { outcome: 'ENDED', status: 'EXPIRED', decidedAt: END })
      const late = await store.confirm(paying.inventoryId, paying.holdId, randomUUID())
      assert.deepEqual({ ...late }, { outcome: 'EXPIRED', status: 'EXPIRED', bookingId: null, decidedAt: END })
      assert.equal(await glance(ground, paying.inventoryId), 'GA 0+0/2')

      const pools = [{ code: 'GA', quantity: 2 }]
      await hold(ground, { inventoryId: taken.inventoryId, customerId: ben, seats: ['F1', 'F2'], pools })
      assert.equal((await store.block(blocked.inventoryId, ['F1'], 'manager', 'wet')).outcome, 'BLOCKED')
    },
  },
  {
    name: 'B005, B043: who pays late gets nothing, also when only a part was taken by somebody else',
    async check(ground) {
      const { inventoryId, holdId } = await annHolds(ground, true)
      await ground.at(END)
      await hold(ground, { inventoryId, customerId: ben, seats: ['F2'] })
      assert.equal((await ground.store.confirm(inventoryId, holdId, randomUUID())).outcome, 'EXPIRED')
      assert.equal(await glance(ground, inventoryId), 'F2 HELD, GA 0+0/2')
    },
  },
  {
    name: 'an extension moves the end of the hold and of every seat, so often and so far as allowed, never backwards',
    async check(ground) {
      const { inventoryId, holdId } = await annHolds(ground, false)
      const extend = (addMs: number) => ground.store.extend(inventoryId, holdId, addMs, 3)
      assert.equal((await extend(1_000)).expiresAt, END)
      const { outcome, expiresAt } = await extend(HOLD_TTL_MS + 1)
      assert.deepEqual([outcome, expiresAt], ['EXTENDED', later(END, 1)])
      const ends = (await ground.store.read(inventoryId))?.seats.flatMap((seat) => seat.expiresAt ?? [])
      assert.deepEqual(ends, [later(END, 1), later(END, 1)])
      assert.equal((await extend(HOLD_LIFE_MS * 2)).expiresAt, later(START, HOLD_LIFE_MS))
      const limit = await extend(1_000)
      const lifeEnd = later(START, HOLD_LIFE_MS)
      assert.deepEqual(
        { ...limit },
        { outcome: 'EXTENSION_LIMIT', status: 'HELD', expiresAt: lifeEnd, decidedAt: START },
      )
      assert.equal((await ground.store.extend(inventoryId, holdId, 1_000, 99)).outcome, 'EXTENSION_LIMIT')
      assert.equal((await ground.store.readHold(inventoryId, holdId))?.extensions, 3)
    },
  },
  {
    name: 'checking out happens once and leaves time to pay, within the hold’s life',
    async check(ground) {
      const { inventoryId, holdId } = await annHolds(ground, false)
      await ground.at(later(END, -1_000))
      const { outcome, status, expiresAt } = await ground.store.checkOut(inventoryId, holdId, HOLD_TTL_MS)
      const payUntil = later(END, HOLD_TTL_MS - 1_000)
      assert.deepEqual([outcome, status, expiresAt], ['EXTENDED', 'CHECKED_OUT', payUntil])
      assert.equal((await ground.store.read(inventoryId))?.seats[0]?.expiresAt, payUntil)
      const again = await ground.store.checkOut(inventoryId, holdId, HOLD_TTL_MS * 2)
      assert.deepEqual([again.outcome, again.status, again.expiresAt], ['NOT_HELD', 'CHECKED_OUT', payUntil])
      assert.equal((await ground.store.extend(inventoryId, holdId, 1_000, 9)).outcome, 'NOT_HELD')
      await ground.at(payUntil)
      assert.equal((await ground.store.confirm(inventoryId, holdId, randomUUID())).outcome, 'EXPIRED')
    },
  },
  {
    name: 'B037, B038: a release puts exactly what was held back on sale, once, whoever asks how often',
    async check(ground) {
      const { inventoryId, holdId } = await annHolds(ground, true)
      const { outcome, status } = await ground.store.release(inventoryId, holdId)
      assert.deepEqual([outcome, status], ['RELEASED', 'CHECKED_OUT'])
      assert.equal(await glance(ground, inventoryId), 'GA 0+0/2')
      const again = await ground.store.release(inventoryId, holdId)
      assert.deepEqual([again.outcome, again.status], ['ENDED', 'RELEASED'])
      assert.equal((await ground.store.confirm(inventoryId, holdId, randomUUID())).outcome, 'NOT_HELD')
      assert.equal((await ground.store.extend(inventoryId, holdId, 1_000, 9)).status, 'RELEASED')
      // What was released stays released, also when it would have ended by itself since.
      await ground.at(END)
      assert.equal((await ground.store.confirm(inventoryId, holdId, randomUUID())).outcome, 'NOT_HELD')
      assert.equal((await ground.store.checkOut(inventoryId, holdId, 1_000)).outcome, 'NOT_HELD')
      assert.equal((await ground.store.read(inventoryId))?.version, 4)
      assert.equal((await ground.store.release(inventoryId, randomUUID())).outcome, 'NOT_FOUND')
      assert.equal((await ground.store.extend(inventoryId, randomUUID(), 1, 1)).outcome, 'NOT_FOUND')
      const sold = await book(ground, { inventoryId, customerId: ben, seats: ['F1'] })
      assert.equal((await ground.store.release(inventoryId, sold.holdId)).outcome, 'BOOKED')
    },
  },
  {
    name: 'sweeping tidies every lapsed hold once, and nobody sees a difference',
    async check(ground) {
      const { inventoryId } = await annHolds(ground, true)
      await hold(ground, { inventoryId, customerId: ben, seats: ['F5'], ttlMs: HOLD_TTL_MS + 1_000 })
      await hold(ground, { inventoryId, customerId: 'cleo', seats: ['F6'] })
      await ground.at(END)
      const before = await glance(ground, inventoryId)
      assert.equal(await ground.store.expire(inventoryId), 2)
      assert.equal(await ground.store.expire(inventoryId), 0)
      assert.equal(await glance(ground, inventoryId), before)
      assert.equal(before, 'F5 HELD, GA 0+0/2')
      assert.equal(await ground.store.expire(999), 0)
    },
  },
]
