// alone: negative controls. With one protection taken out, the suites that prove it must find something: a race that cannot fail proves nothing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { postgresStore } from '#inventory/postgres-store.ts'
import { glance, hold, postgresGround, requestOf } from '#test/contract/ground.ts'
import { raceC3 } from '#test/races/expiry-edge.ts'
import { raceC2 } from '#test/races/groups.ts'
import { raceC1 } from '#test/races/one-seat.ts'
import { raceLastUnit } from '#test/races/pools.ts'
import { printedSeed } from '#test/races/processes.ts'
import { testSale } from '#test/sale/test-sale.ts'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import { mutate } from './mutate.ts'

const seed = printedSeed()

const noLock = (db: TestDatabase) => mutate(db, 'place_holds', ['order by i.id for update', 'order by i.id'])
const noCount = (db: TestDatabase) =>
  mutate(db, 'place_holds', ['if taken_seats <> wanted_seats then', 'if false then'])

function mustFail(t: TestContext, violations: string[]): void {
  assert.ok(violations.length > 0, 'the suite did not notice that the protection was gone')
  t.diagnostic(`noticed: ${violations[0]}`)
}

test('without the lock of the inventory, C1 fails', async (t) => {
  const db = await freshDatabase(t)
  await noLock(db)
  mustFail(t, await raceC1(db, { clients: 50, rounds: 60 }))
})

test('without the lock, the race for the last unit of a pool fails', async (t) => {
  const db = await freshDatabase(t)
  await noLock(db)
  mustFail(t, await raceLastUnit(db, { clients: 20, rounds: 60 }))
})

test('without the lock and the comparison of counts, C1 has two owners of one seat', async (t) => {
  const db = await freshDatabase(t)
  await noLock(db)
  await noCount(db)
  const violations = await raceC1(db, { clients: 50, rounds: 100 })
  const twoOwners = violations.filter((sentence) => /[2-9] buyers have seat|audit found/.test(sentence))
  mustFail(t, twoOwners)
})

test('with the comparison of counts, two grants of one seat in a batch throw and write nothing; without it, both are told that they have it', async (t) => {
  const db = await freshDatabase(t)
  const store = postgresStore(db.sql)
  const twoForOne = async () => {
    const inventoryId = await store.open({ seats: ['F5'] })
    const two = ['ann', 'ben'].map((customerId) => requestOf({ inventoryId, customerId, seats: ['F5'] }))
    return store.place(two).then(
      (outcomes) => outcomes.filter(({ outcome }) => outcome === 'HELD').length,
      () => 0,
    )
  }
  assert.equal(await twoForOne(), 0)
  await noCount(db)
  assert.equal(await twoForOne(), 2)
})

test('a hold that lost a seat is not sold at all; without the comparison of counts in confirm, what is left of it is', async (t) => {
  const db = await freshDatabase(t)
  const ground = await postgresGround(db)
  const sellRobbed = async () => {
    const inventoryId = await ground.store.open({ seats: ['F5', 'F6'] })
    const holdId = await hold(ground, { inventoryId, customerId: 'ann', seats: ['F5', 'F6'] })
    await ground.store.checkOut(inventoryId, holdId, 0)
    await db.sql`update seats set status = 'AVAILABLE', hold_id = null, hold_expires_at = null
      where inventory_id = ${inventoryId} and seat_code = 'F5'`
    await ground.store.confirm(inventoryId, holdId, randomUUID()).catch(() => {})
    return glance(ground, inventoryId)
  }
  assert.equal(await sellRobbed(), 'F6 HELD')
  await mutate(db, 'confirm_hold', ['if cardinality(sold_codes) <> cardinality(h.seat_codes) then', 'if false then'])
  assert.equal(await sellRobbed(), 'F6 BOOKED')
})

test('when a part of a group is accepted, C2 fails', async (t) => {
  const db = await freshDatabase(t)
  await noCount(db)
  const partly = "when cardinality(b.codes) = cardinality(a.seats) then 'UNAVAILABLE'"
  await mutate(db, 'judge_holds', ["when b.codes is not null then 'UNAVAILABLE'", partly])
  mustFail(t, await raceC2(db, { clients: 20, rounds: 30, seed }))
})

test('without the expiry in confirm, C3 fails', async (t) => {
  const db = await freshDatabase(t)
  await mutate(
    db,
    'confirm_hold',
    ['perform expire_lapsed_holds(in_inventory_id, t);', ''],
    [" or (h.status in ('HELD', 'CHECKED_OUT') and h.expires_at <= t)", ''],
  )
  const { violations } = await raceC3(db, { rounds: 400, seed })
  mustFail(t, violations)
})

test('a confirm whose clock is a millisecond behind crosses the frozen boundary', async (t) => {
  const db = await freshDatabase(t)
  await mutate(db, 'confirm_hold', ['t := holdfast_now();', "t := holdfast_now() - interval '1 millisecond';"])
  const store = postgresStore(db.sql)
  const inventoryId = await store.open({ seats: ['F5'] })
  const [held] = await store.place([requestOf({ inventoryId, customerId: 'ann', seats: ['F5'] })])
  assert.ok(held?.outcome === 'HELD')
  const { expiresAt } = await store.checkOut(inventoryId, held.holdId, 1)
  await db.freezeClock(expiresAt)
  const late = await store.confirm(inventoryId, held.holdId, randomUUID())
  mustFail(t, late.outcome === 'BOOKED' ? ['a hold was paid at its very end'] : [])
})

// A message that differs in its amount is put before a person, once, however often it comes.
async function repeatMismatch(sale: Awaited<ReturnType<typeof testSale>>): Promise<string[]> {
  const checkout = await sale.checkOut(await sale.hold(['F5']))
  await sale.pay(checkout, { fault: 'never' })
  const wrong = await sale.message('authorised', checkout, { amount: 1 })
  const statuses = await Promise.all(Array.from({ length: 16 }, () => sale.send(wrong, 'evt_same')))
  const [items] = await sale.sql<{ count: number }[]>`select count(*)::int as count from worklist`
  const [notes] = await sale.sql<{ count: number }[]>`select count(*)::int as count from payment_callbacks`
  return [
    ...statuses.filter((status) => status !== 200).map((status) => `a repeat was answered ${status}`),
    ...(items?.count === 1 ? [] : [`${items?.count} items on the worklist for one message`]),
    ...(notes?.count === 1 ? [] : [`${notes?.count} notes of one message`]),
  ]
}

test('one message sixteen times is worked once; without the deduplication of callbacks it is not', async (t) => {
  assert.deepEqual(await repeatMismatch(await testSale(t, { env: { LOG_LEVEL: 'fatal' } })), [])
  const mutant = await testSale(t, { env: { LOG_LEVEL: 'fatal' } })
  await mutant.sql.unsafe(`
    create function forget_event() returns trigger language plpgsql as
      $$ begin new.event_id := gen_random_uuid()::text; return new; end $$;
    create trigger forget_event before insert on payment_callbacks for each row execute function forget_event()`)
  mustFail(t, await repeatMismatch(mutant))
})
