// LATE_PAYMENT=rescue: late money takes all of its seats again or none, never from anybody, and not when anything else has changed meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mutate } from '#test/mutants/mutate.ts'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { HOLD_MS, type TestSale, testSale } from '#test/sale/test-sale.ts'
import { settled, statuses } from '#test/sale/what-happened.ts'
import { raceRescue } from './rescue.ts'

const ROUNDS = process.env.HOLDFAST_TEST_LONG ? 2_000 : 150
const MUTANT_ROUNDS = 60
const RESCUE = { env: { LATE_PAYMENT: 'rescue' } }
const pairs = (rounds: number) => Array.from({ length: rounds }, (_, at) => [`A${at + 1}`, `B${at + 1}`]).flat()

async function lateMoney(sale: TestSale, meanwhile: (sale: TestSale) => Promise<unknown> = async () => {}) {
  const hold = await sale.hold(['F5', 'F6'], { customerId: 'ann' })
  const checkout = await sale.checkOut(hold)
  await sale.pay(checkout, { fault: 'never' })
  await sale.db.shiftClock(HOLD_MS + 1_000)
  await meanwhile(sale)
  assert.equal(await sale.send(await sale.message('authorised', checkout)), 200)
  await sale.work()
  await assertSoundBooks(sale.sql)
  return hold
}

for (const swept of [false, true]) {
  test(`every seat still free, the booking ${swept ? 'EXPIRED already' : 'not yet ended'}: confirmed with all of them`, async (t) => {
    const sale = await testSale(t, RESCUE)
    await lateMoney(sale, async () => swept && (await sale.expire()))
    assert.deepEqual(await statuses(sale), { booking: 'CONFIRMED', payments: ['CAPTURED'] })
    assert.deepEqual([(await sale.seat('F5'))?.status, (await sale.seat('F6'))?.status], ['BOOKED', 'BOOKED'])
  })
}

const OBSTACLES: [what: string, happens: (sale: TestSale) => Promise<unknown>][] = [
  ['one of the seats is held by another', (sale) => sale.hold(['F6'])],
  ['one of the seats is blocked', (sale) => sale.store.block(sale.inventoryId, ['F6'], 'manager', 'broken')],
  ['the sale has closed', (sale) => sale.sql`update inventories set sale_closes_at = holdfast_now()`],
  ['the customer holds other seats now', (sale) => sale.hold(['F7'], { customerId: 'ann' })],
]
for (const [what, happens] of OBSTACLES) {
  test(`${what}: nothing is taken, the money is let go once`, async (t) => {
    const sale = await testSale(t, RESCUE)
    await lateMoney(sale, happens)
    assert.deepEqual(await settled(sale), ['VOID LATE DONE'])
    assert.notEqual((await statuses(sale)).booking, 'CONFIRMED')
    assert.notEqual((await sale.seat('F5'))?.status, 'BOOKED')
  })
}

test('the customer has bought up to their limit meanwhile: let go', async (t) => {
  const sale = await testSale(t, { env: { LATE_PAYMENT: 'rescue', SEATS_PER_CUSTOMER_MAX: '2' } })
  await lateMoney(sale, () => sale.buy(['F7'], { customerId: 'ann' }))
  assert.deepEqual((await settled(sale)).sort(), ['CAPTURE CONFIRMED DONE', 'VOID LATE DONE'])
})

test('a hold that was given up is not rescued', async (t) => {
  const sale = await testSale(t, RESCUE)
  await lateMoney(sale, async () => {
    await sale.db.shiftClock(0)
    const [hold] = await sale.sql<{ id: string }[]>`select id from holds`
    await sale.store.release(sale.inventoryId, hold?.id ?? '')
  })
  assert.deepEqual(await settled(sale), ['VOID LATE DONE'])
})

test(`late money against a new buyer, ${ROUNDS} rounds: one of the two, whole`, async (t) => {
  const sale = await testSale(t, { seats: pairs(ROUNDS), env: { LATE_PAYMENT: 'rescue', LOG_LEVEL: 'silent' } })
  const { violations, rescued, rivals } = await raceRescue(sale, ROUNDS)
  t.diagnostic(`${rescued} rescued, ${rivals} new buyers`)
  assert.deepEqual(violations, [])
  assert.ok(rescued > 0 && rivals > 0, 'the race always ended the same way')
  await assertSoundBooks(sale.sql)
})

test('control: without the lock and the comparison of counts the race has two owners of a seat', async (t) => {
  const sale = await testSale(t, { seats: pairs(MUTANT_ROUNDS), env: { LATE_PAYMENT: 'rescue', LOG_LEVEL: 'silent' } })
  await mutate(
    sale.db,
    'place_holds',
    ['order by i.id for update', 'order by i.id'],
    ['if taken_seats <> wanted_seats then', 'if false then'],
  )
  const { violations } = await raceRescue(sale, MUTANT_ROUNDS)
  assert.ok(violations.length > 0, 'the race did not notice that the protection was gone')
  t.diagnostic(`noticed: ${violations[0]}`)
})
