// Facts about placing: what is granted, what is refused and why, and what becomes of the customer's own earlier hold.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { book, type Fact, glance, HOLD_LIFE_MS, HOLD_TTL_MS, hold, later, openRow, place, START } from './ground.ts'

const ann = 'ann'
const ben = 'ben'

export const placingFacts: Fact[] = [
  {
    name: 'B018: the first hold of a fresh inventory is granted, with its full time counted from the decision',
    async check(ground) {
      const inventoryId = await openRow(ground)
      const holdId = randomUUID()
      const outcome = await place(ground, { inventoryId, customerId: ann, holdId, seats: ['F1', 'F2'] })
      const expiresAt = later(START, HOLD_TTL_MS)
      assert.deepEqual({ ...outcome }, { outcome: 'HELD', holdId, expiresAt, decidedAt: START })
      const state = await ground.store.read(inventoryId)
      assert.equal(state?.version, 2)
      const mine = { status: 'HELD', holdId, expiresAt, bookingId: null }
      assert.deepEqual(
        state?.seats.slice(0, 3).map((seat) => ({ ...seat })),
        [
          { code: 'F1', ...mine },
          { code: 'F2', ...mine },
          { code: 'F3', status: 'AVAILABLE', holdId: null, expiresAt: null, bookingId: null },
        ],
      )
    },
  },
  {
    name: 'a hold is read back as it was placed, its quote untouched',
    async check(ground) {
      const inventoryId = await openRow(ground, { pools: [{ code: 'GA', capacity: 4 }] })
      const quote = { totalMinor: 2, lines: [{ seat_code: 'F2', Label: 'Zwölf', n: null }, { b: [1.5, true] }] }
      const pools = [{ code: 'GA', quantity: 1 }]
      const wish = { customerId: ann, seats: ['F2', 'F1'], pools, quote, amountMinor: 2, currency: 'JPY' }
      const holdId = await hold(ground, { inventoryId, ...wish })
      assert.deepEqual(
        { ...(await ground.store.readHold(inventoryId, holdId)) },
        {
          ...wish,
          holdId,
          tokenHash: 'ab'.repeat(32),
          status: 'HELD',
          expiresAt: later(START, HOLD_TTL_MS),
          extensions: 0,
          bookingId: null,
          asOf: START,
        },
      )
      assert.equal(await ground.store.readHold(inventoryId, randomUUID()), null)
      assert.equal(await ground.store.readHold(inventoryId + 1, holdId), null)
    },
  },
  {
    name: 'a refusal names each seat in the way with its reason, and changes nothing',
    async check(ground) {
      const inventoryId = await openRow(ground)
      await hold(ground, { inventoryId, customerId: ann, seats: ['F1'] })
      await book(ground, { inventoryId, customerId: 'cleo', seats: ['F2'] })
      await ground.store.block(inventoryId, ['F3'], 'manager', 'broken')
      const before = await ground.store.read(inventoryId)
      const outcome = await place(ground, { inventoryId, customerId: ben, seats: ['F4', 'Z9', 'F3', 'F2', 'F1', 'F5'] })
      const blocking = [
        { code: 'F1', reason: 'held' },
        { code: 'F2', reason: 'booked' },
        { code: 'F3', reason: 'blocked' },
        { code: 'Z9', reason: 'unknown' },
      ]
      assert.deepEqual({ ...outcome }, { outcome: 'UNAVAILABLE', blocking, decidedAt: START })
      assert.deepEqual(await ground.store.read(inventoryId), before)
    },
  },
  {
    name: 'two buyers, one seat in common: the second gets none of the seats',
    async check(ground) {
      const inventoryId = await openRow(ground)
      await hold(ground, { inventoryId, customerId: ann, seats: ['F1', 'F2'] })
      const outcome = await place(ground, { inventoryId, customerId: ben, seats: ['F2', 'F3'] })
      assert.equal(outcome.outcome, 'UNAVAILABLE')
      assert.equal(await glance(ground, inventoryId), 'F1 HELD, F2 HELD')
    },
  },
  {
    name: 'B013: asking again for exactly what one holds answers that hold, its end unchanged, in any order of seats',
    async check(ground) {
      const inventoryId = await openRow(ground, { saleClosesAt: later(START, 120_000) })
      const first = await place(ground, { inventoryId, customerId: ann, seats: ['F1', 'F2'] })
      assert.equal(first.outcome, 'HELD')
      // Also when the sale has closed meanwhile, and when it is being paid.
      await ground.at(later(START, 120_000))
      const again = await place(ground, { inventoryId, customerId: ann, seats: ['F2', 'F1'] })
      assert.deepEqual({ ...again }, { ...first, outcome: 'SAME', decidedAt: later(START, 120_000) })
      assert.equal((await ground.store.read(inventoryId))?.version, 2)
      await ground.store.checkOut(inventoryId, first.holdId, 0)
      const paying = await place(ground, { inventoryId, customerId: ann, seats: ['F1', 'F2'] })
      assert.equal(paying.outcome === 'SAME' && paying.holdId, first.holdId)
    },
  },
  {
    name: 'the same seats for other people are another wish: it replaces the hold, and the new price stands',
    async check(ground) {
      const inventoryId = await openRow(ground)
      const priced = (tickets: string, amountMinor: number) => ({
        inventoryId,
        customerId: ann,
        seats: ['F1', 'F2'],
        amountMinor,
        quote: { totalMinor: amountMinor, ...(tickets === '' ? {} : { tickets }) },
      })
      const first = await hold(ground, priced('', 2_000))
      const second = await hold(ground, priced('F2=CHILD', 1_500))
      assert.notEqual(second, first)
      assert.equal((await ground.store.readHold(inventoryId, first))?.status, 'RELEASED')
      assert.equal((await ground.store.readHold(inventoryId, second))?.amountMinor, 1_500)
      assert.equal((await place(ground, priced('F2=CHILD', 1_500))).outcome, 'SAME')
      assert.equal((await place(ground, priced('', 2_000))).outcome, 'HELD')
    },
  },
  {
    name: 'B039, B040: another wish of the same customer replaces their hold in the same step',
    async check(ground) {
      const inventoryId = await openRow(ground)
      const first = await hold(ground, { inventoryId, customerId: ann, seats: ['F1', 'F2'] })
      const second = await place(ground, { inventoryId, customerId: ann, seats: ['F2', 'F3'] })
      assert.ok(second.outcome === 'HELD')
      assert.deepEqual(second.replacedSeats, ['F1', 'F2'])
      assert.equal(await glance(ground, inventoryId), 'F2 HELD, F3 HELD')
      assert.equal((await ground.store.readHold(inventoryId, first))?.status, 'RELEASED')
      assert.equal((await ground.store.readHold(inventoryId, second.holdId))?.status, 'HELD')
      // A refused wish takes nothing away.
      await hold(ground, { inventoryId, customerId: ben, seats: ['F7'] })
      assert.equal((await place(ground, { inventoryId, customerId: ann, seats: ['F6', 'F7'] })).outcome, 'UNAVAILABLE')
      assert.equal(await glance(ground, inventoryId), 'F2 HELD, F3 HELD, F7 HELD')
    },
  },
  {
    name: 'B039: swapping seats never restarts the bounded life of a hold; leaving all of them does',
    async check(ground) {
      const inventoryId = await openRow(ground)
      const wish = { inventoryId, customerId: ann, lifeMs: 1_000_000 }
      await hold(ground, { ...wish, seats: ['F1', 'F2'] })
      await ground.at(later(START, 500_000))
      const swapped = await place(ground, { ...wish, seats: ['F2', 'F3'] })
      assert.equal(swapped.outcome === 'HELD' && swapped.expiresAt, later(START, 1_000_000))
      await ground.at(later(START, 999_999, 999))
      const again = await place(ground, { ...wish, seats: ['F3'] })
      assert.equal(again.outcome === 'HELD' && again.expiresAt, later(START, 1_000_000))
      const elsewhere = await place(ground, { ...wish, seats: ['F8'] })
      assert.equal(elsewhere.outcome === 'HELD' && elsewhere.expiresAt, later(ground.now(), HOLD_TTL_MS))
    },
  },
  {
    name: 'a seat of one’s own hold that is being paid is named as yours',
    async check(ground) {
      const inventoryId = await openRow(ground)
      const holdId = await hold(ground, { inventoryId, customerId: ann, seats: ['F1', 'F2'] })
      await ground.store.checkOut(inventoryId, holdId, 0)
      const outcome = await place(ground, { inventoryId, customerId: ann, seats: ['F2', 'F3'] })
      assert.deepEqual(outcome.outcome === 'UNAVAILABLE' && outcome.blocking, [{ code: 'F2', reason: 'yours' }])
      // Other seats may be held beside it.
      await hold(ground, { inventoryId, customerId: ann, seats: ['F3'] })
      assert.equal(await glance(ground, inventoryId), 'F1 HELD, F2 HELD, F3 HELD')
    },
  },
  {
    name: 'B010, B011: the limit counts what is being paid and what is booked, and a cancellation gives it back',
    async check(ground) {
      const inventoryId = await openRow(ground)
      const wish = { inventoryId, customerId: ann, unitsMax: 4 }
      const { bookingId } = await book(ground, { ...wish, seats: ['F1', 'F2'] })
      const paying = await hold(ground, { ...wish, seats: ['F3'] })
      await ground.store.checkOut(inventoryId, paying, 0)
      const outcome = await place(ground, { ...wish, seats: ['F4', 'F5'] })
      assert.deepEqual({ ...outcome }, { outcome: 'LIMIT', unitsMax: 4, countedUnits: 3, decidedAt: START })
      // One's own hold that would be replaced does not count.
      await hold(ground, { ...wish, seats: ['F4'] })
      await hold(ground, { ...wish, seats: ['F5'] })
      await ground.store.cancel(inventoryId, bookingId, { seats: ['F1'], pools: [] })
      await hold(ground, { ...wish, seats: ['F4', 'F5'] })
      assert.equal((await place(ground, { ...wish, seats: ['F4', 'F5', 'F6'] })).outcome, 'LIMIT')
      await ground.store.cancel(inventoryId, bookingId)
      await hold(ground, { ...wish, seats: ['F4', 'F5', 'F6'] })
      // Without a limit nobody counts; a lapsed hold weighs nothing.
      await hold(ground, { inventoryId, customerId: ann, seats: ['F4', 'F5', 'F6', 'F7', 'F8'] })
      await ground.at(later(START, HOLD_LIFE_MS))
      await hold(ground, { ...wish, seats: ['F4', 'F5', 'F6', 'F7'] })
    },
  },
  {
    name: 'the sale opens and closes at the very instant',
    async check(ground) {
      const opens = later(START, 1_000)
      const closes = later(START, 2_000)
      const inventoryId = await openRow(ground, { saleOpensAt: opens, saleClosesAt: closes })
      const outcomeAt = async (time: string) => {
        await ground.at(time)
        return (await place(ground, { inventoryId, customerId: randomUUID(), seats: ['F1'], ttlMs: 100 })).outcome
      }
      assert.equal(await outcomeAt(later(opens, 0, -1)), 'NOT_OPEN')
      assert.equal(await outcomeAt(opens), 'HELD')
      assert.equal(await outcomeAt(later(closes, 0, -1)), 'HELD')
      assert.equal(await outcomeAt(closes), 'CLOSED')
    },
  },
  {
    name: 'an inventory that is not there has nothing to hold',
    async check(ground) {
      assert.equal((await place(ground, { inventoryId: 999, customerId: ann, seats: ['F1'] })).outcome, 'NOT_FOUND')
      assert.equal(await ground.store.read(999), null)
    },
  },
  {
    name: 'a seat’s label is data: quotes, commas, braces, backslashes and NULL are held like any other',
    async check(ground) {
      const seats = ['"', ',', '{}', '\\', 'NULL', 'null', ' ', "'; drop table seats --", 'Ä1', '座']
      const inventoryId = await ground.store.open({ seats })
      const holdId = await hold(ground, { inventoryId, customerId: `"o'{,}\\`, seats })
      assert.deepEqual((await ground.store.readHold(inventoryId, holdId))?.seats, seats)
      const outcome = await place(ground, { inventoryId, customerId: ben, seats: ['"', 'NULL'] })
      const names = outcome.outcome === 'UNAVAILABLE' && outcome.blocking.map(({ code }) => code)
      assert.deepEqual(names, ['"', 'NULL'])
    },
  },
]
