// Each check of the audit is shown the violation it is there for, planted by direct SQL with the database's own guards taken away.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { book, type Ground, hold, later, openRow, place, postgresGround, START } from '#test/contract/ground.ts'
import { freshDatabase } from '#test/support/database.ts'
import { auditInventories, inventoryChecks } from './audit-inventories.ts'

// Ann holds F1 and F2 and a place of GA, Ben has F3 and two places, Cleo's hold of F4 has lapsed, F5 is blocked, Emil has F6.
async function layScene(ground: Ground): Promise<void> {
  const inventoryId = await openRow(ground, { pools: [{ code: 'GA', capacity: 5 }] })
  assert.equal(inventoryId, 1)
  const ga = (quantity: number) => [{ code: 'GA', quantity }]
  await hold(ground, { inventoryId, customerId: 'ann', seats: ['F1', 'F2'], pools: ga(1) })
  await book(ground, { inventoryId, customerId: 'ben', seats: ['F3'], pools: ga(2) })
  await hold(ground, { inventoryId, customerId: 'cleo', seats: ['F4'], ttlMs: 1_000 })
  await ground.store.block(inventoryId, ['F5'], 'manager', 'broken')
  await ground.at(later(START, 1_000))
  await place(ground, { inventoryId, customerId: 'dora', seats: ['F3'] })
  await hold(ground, { inventoryId, customerId: 'emil', seats: ['F6'] })
}

const ofAnn = `inventory_id = 1 and customer_id = 'ann'`

const PLANTS: { what: string; found: string; sql: string }[] = [
  {
    what: 'a booking that the guard does not know',
    found: '1 booked seats',
    sql: `delete from booked_seats where seat_code = 'F3'`,
  },
  {
    what: 'a guard row of a seat that is free',
    found: '1 booked seats',
    sql: `insert into booked_seats select 1, 'F8', booking_id, booked_at from booked_seats`,
  },
  {
    what: 'two bookings of one seat, the guard taken away',
    found: '1 booked seats',
    sql: `alter table booked_seats drop constraint booked_seats_one_booking_per_seat;
      insert into booked_seats select 1, 'F3', gen_random_uuid(), booked_at from booked_seats`,
  },
  {
    what: 'a seat booked for a booking whose hold never had it',
    found: '1 booked seats',
    sql: `update seats set status = 'BOOKED', booking_id = (select booking_id from booked_seats) where seat_code = 'F8';
      insert into booked_seats select 1, 'F8', booking_id, booked_at from booked_seats`,
  },
  {
    what: 'a seat held by nobody',
    found: '2 held seats',
    sql: `update seats set status = 'HELD', hold_id = gen_random_uuid(), hold_expires_at = 'infinity' where seat_code = 'F8'`,
  },
  {
    what: 'a seat held longer than its hold',
    found: '2 held seats',
    sql: `update seats set hold_expires_at = hold_expires_at + interval '1 microsecond' where seat_code = 'F1'`,
  },
  {
    what: 'a seat held by a hold that was released',
    found: '2 held seats',
    sql: `update holds set status = 'RELEASED' where ${ofAnn}`,
  },
  {
    what: 'a seat held by a hold that does not list it',
    found: '2 held seats',
    sql: `update seats set status = 'HELD', hold_id = h.id, hold_expires_at = h.expires_at from holds h where ${ofAnn.replaceAll('inventory_id', 'h.inventory_id')} and seat_code = 'F8'`,
  },
  {
    what: 'a hold robbed of one of its seats',
    found: '2 whole holds',
    sql: `update seats set status = 'AVAILABLE', hold_id = null, hold_expires_at = null where seat_code = 'F1'`,
  },
  {
    what: 'two holds of one customer side by side',
    found: '2 one hold a customer',
    sql: `update holds set customer_id = 'ann' where customer_id = 'emil'`,
  },
  { what: 'a counter of held units that drifted', found: '3 pool counters', sql: `update pools set held = held + 1` },
  { what: 'a counter of sold units that drifted', found: '3 pool counters', sql: `update pools set sold = sold - 1` },
  {
    what: 'a pool sold over its limit',
    found: '3 pool counters',
    sql: `alter table pools drop constraint pools_never_oversold; update pools set capacity = 1`,
  },
  {
    what: 'a hold beyond its maximum life',
    found: '7 bounded lives',
    sql: `alter table holds drop constraint holds_check;
      update holds set expires_at = life_ends_at + interval '1 second' where ${ofAnn}`,
  },
  { what: 'a block without its reason', found: '7 reasoned blocks', sql: `update seat_blocks set reason = ''` },
  { what: 'a blocked seat without a block', found: '7 reasoned blocks', sql: `delete from seat_blocks` },
  {
    what: 'a block of a seat that is free',
    found: '7 reasoned blocks',
    sql: `update seats set status = 'AVAILABLE' where seat_code = 'F5'`,
  },
  {
    what: 'an inventory that does not know when its first hold ends',
    found: '7 known lapses',
    sql: `update inventories set next_lapse_at = 'infinity'`,
  },
  {
    what: 'a hold of a seat that vanished',
    found: '7 nothing dangles',
    sql: `delete from seats where seat_code = 'F4'`,
  },
  {
    what: 'a hold’s quantity of a pool that vanished',
    found: '7 nothing dangles',
    sql: `delete from booked_pools; delete from pools`,
  },
  {
    what: 'an inventory that vanished under its holds and changes',
    found: '7 nothing dangles',
    sql: 'delete from inventories',
  },
  { what: 'a change that was lost', found: '8 versions', sql: `delete from inventory_changes where version = 3` },
  { what: 'a change that was not counted', found: '8 versions', sql: `update inventories set version = version - 1` },
  {
    what: 'a seat changed behind the history’s back',
    found: '8 replayed seats',
    sql: `update seats set status = 'BLOCKED' where seat_code = 'F8'`,
  },
  {
    what: 'a counter changed behind the history’s back',
    found: '8 replayed pools',
    sql: `update pools set held = held + 1`,
  },
  {
    what: 'a sale at the very end of its hold',
    found: '8 allowed steps',
    sql: `update inventory_changes set changed_at = (select expires_at from holds where customer_id = 'ben') where seat_statuses = array['BOOKED']`,
  },
  {
    what: 'a seat taken from a live hold',
    found: '8 allowed steps',
    sql: `update inventory_changes set seat_hold_ids = array[gen_random_uuid()], seat_codes = array['F1'] where version = 6`,
  },
  {
    what: 'a hold declared expired before its time',
    found: '8 allowed steps',
    sql: `update inventory_changes c set changed_at = changed_at - interval '1 microsecond' where seat_statuses = array['AVAILABLE']`,
  },
]

test('a scene of every kind of seat has no findings', async (t) => {
  const db = await freshDatabase(t)
  await layScene(await postgresGround(db))
  assert.deepEqual(await auditInventories(db.sql), [])
})

for (const { what, found, sql } of PLANTS) {
  test(`found and named (${found}): ${what}`, async (t) => {
    const db = await freshDatabase(t)
    await layScene(await postgresGround(db))
    await db.sql.unsafe(sql)
    const findings = await auditInventories(db.sql)
    const finding = findings.find(({ invariant }) => invariant === found)
    assert.ok(finding && finding.rows.length > 0, `found instead: ${findings.map((f) => f.invariant)}`)
  })
}

test('every check of the audit has a violation planted for it', () => {
  const planted = new Set(PLANTS.map(({ found }) => found))
  const without = inventoryChecks.filter(({ invariant }) => !planted.has(invariant))
  assert.deepEqual(without, [])
})
