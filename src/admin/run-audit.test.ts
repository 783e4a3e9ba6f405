// The audit of the sale: a sound one has no findings, also while it is being worked on, and each violation planted by direct SQL is found and named.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inventoryChecks } from '#inventory/audit/audit-inventories.ts'
import { laySale } from '#test/audit/sale-scene.ts'
import { later, postgresGround, START } from '#test/contract/ground.ts'
import { freshDatabase } from '#test/support/database.ts'
import { printAudit } from './print-audit.ts'
import { allChecks, runAudit } from './run-audit.ts'

const settlementOf = (customer: string, kind: string) =>
  `kind = '${kind}' and booking_id = (select id from bookings where customer_id = '${customer}')`
const paymentOf = (customer: string) => `booking_id = (select id from bookings where customer_id = '${customer}')`
const DROP_PAYMENT_CHECKS = `alter table payments drop constraint payments_check, drop constraint payments_check1`
const QUEUE_AGAIN = `insert into outbox_deliveries (inventory_id, sink, booking_id, seq, event_id, created_at, next_attempt_at)
  select inventory_id, 'in-process', booking_id, seq, id, created_at, created_at from outbox where published_at is null`

const PLANTS: { what: string; found: string; sql: string }[] = [
  {
    what: 'a sold seat that no line pays for',
    found: '4 sold seats',
    sql: `update booking_lines set status = 'CANCELLED' where seat_code = 'F1'`,
  },
  {
    what: 'a line paid whose seat was not sold',
    found: '4 sold seats',
    sql: `update booking_lines set status = 'ACTIVE' where seat_code = 'F2'`,
  },
  {
    what: 'a seat kept by a booking that is over',
    found: '4 sold seats',
    sql: `update bookings set status = 'CANCELLED' where customer_id = 'ben'`,
  },
  {
    what: 'one seat on two lines',
    found: '4 sold seats',
    sql: `update booking_lines set seat_code = 'F1', pool_code = null where pool_code = 'GA'`,
  },
  { what: 'a unit that no line pays for', found: '4 sold units', sql: `update booked_pools set quantity = 2` },
  { what: 'a line paid whose unit was not sold', found: '4 sold units', sql: `delete from booked_pools` },
  {
    what: 'a confirmed booking that nothing pays for',
    found: '4 one payment',
    sql: `update payments set pays = false where pays`,
  },
  {
    what: 'a payment of another amount',
    found: '4 one payment',
    sql: `update bookings set amount_minor = 1399 where customer_id = 'ben'`,
  },
  {
    what: 'a confirmed booking whose capture nobody owes',
    found: '4 one payment',
    sql: `update payments set status = 'AUTHORISED', captured_minor = 0, refunded_minor = 0 where pays`,
  },
  { what: 'a line without its ticket', found: '4 tickets', sql: `delete from tickets where line_no = 1` },
  {
    what: 'a valid ticket of a cancelled line',
    found: '4 tickets',
    sql: `update tickets set line_no = 2 where line_no = 1`,
  },
  {
    what: 'two tickets for one person',
    found: '4 tickets',
    sql: `insert into tickets select inventory_id, gen_random_uuid(), booking_id, line_no, 2, seat_code, code, status, issued_at from tickets`,
  },
  {
    what: 'late money that nobody gives back',
    found: '5 decided money',
    sql: `update payments set status = 'AUTHORISED' where ${paymentOf('cleo')}`,
  },
  {
    what: 'money taken for a booking that never was',
    found: '5 decided money',
    sql: `update payments set pays = true where ${paymentOf('dora')}`,
  },
  {
    what: 'a refund that is due for too long',
    found: '5 settled in time',
    sql: `update settlements set status = 'DUE', created_at = holdfast_now() - interval '901 seconds' where kind = 'REFUND'`,
  },
  {
    what: 'a void that is stuck',
    found: '5 settled in time',
    sql: `update settlements set status = 'STUCK' where kind = 'VOID'`,
  },
  {
    what: 'a refund of more than was cancelled',
    found: '5 kept money',
    sql: `update payments set refunded_minor = 701 where pays; update settlements set amount_minor = 701 where kind = 'REFUND'`,
  },
  {
    what: 'money of a failed booking that stays',
    found: '5 kept money',
    sql: `update payments set status = 'CAPTURED', captured_minor = amount_minor where ${paymentOf('cleo')}`,
  },
  {
    what: 'lines that do not sum to their booking',
    found: '5 kept money',
    sql: `update booking_lines set amount_minor = 1 where pool_code = 'GA'`,
  },
  {
    what: 'a refund that no settlement knows',
    found: '5 even books',
    sql: `delete from settlements where kind = 'REFUND'`,
  },
  {
    what: 'a capture that the payment does not show',
    found: '5 even books',
    sql: `${DROP_PAYMENT_CHECKS}; update payments set captured_minor = 0 where pays`,
  },
  {
    what: 'a void that the payment does not show',
    found: '5 even books',
    sql: `update settlements set kind = 'EXPIRE_SESSION' where ${settlementOf('cleo', 'VOID')}`,
  },
  {
    what: 'a promo code that counts an order nobody has',
    found: '5 promotions',
    sql: `insert into promo_codes (code, label, basis_points, uses) values ('GHOST', 'Ghost', 100, 1)`,
  },
  {
    what: 'a gift voucher that lost money nobody spent',
    found: '5 promotions',
    sql: `insert into gift_vouchers (code_hash, code_end, currency, initial_minor, balance_minor, created_by)
      values ('\\x00', 'XXXX', 'EUR', 100, 99, 'test')`,
  },
  {
    what: 'an event that was lost',
    found: '6 numbered events',
    sql: `delete from outbox where name = 'PaymentCaptured'`,
  },
  { what: 'a first event that was lost', found: '6 numbered events', sql: `delete from outbox where seq = 1` },
  { what: 'a booking that nothing tells of', found: '6 numbered events', sql: `delete from outbox` },
  {
    what: 'a move that was not told',
    found: '6 told moves',
    sql: `update outbox set name = 'PaymentFailed' where name = 'BookingConfirmed'`,
  },
  {
    what: 'an event of a move that never was',
    found: '6 told moves',
    sql: `update outbox set name = 'BookingCancelled' where name = 'PaymentCaptured'`,
  },
  {
    what: 'a move told twice',
    found: '6 told moves',
    sql: `update outbox set name = 'BookingConfirmed' where name = 'PaymentCaptured'`,
  },
  {
    what: 'an event that nobody sends',
    found: '6 told in time',
    sql: `update outbox set published_at = null, unsent = 1, created_at = holdfast_now() - interval '61 seconds' where seq = 1`,
  },
  {
    what: 'an event that was given up',
    found: '6 told in time',
    sql: `update outbox set published_at = null, unsent = 1 where seq = 1; ${QUEUE_AGAIN}; update outbox_deliveries set parked_at = created_at`,
  },
  {
    what: 'an event that counts as told and was not',
    found: '6 queued events',
    sql: `update outbox set published_at = null where seq = 1; ${QUEUE_AGAIN}; update outbox set published_at = created_at`,
  },
  {
    what: 'an event that no sink will ever be told',
    found: '6 queued events',
    sql: `update outbox set published_at = null, unsent = 1 where seq = 1`,
  },
]

test('a sound sale has no findings, and the report says what was looked at', async (t) => {
  const db = await freshDatabase(t)
  await laySale(await postgresGround(db), db.sql)
  const report = await runAudit(db.sql)
  assert.deepEqual(report.findings, [])
  const { counts, asOf } = report
  assert.deepEqual(counts, { inventories: 1, seats: 8, holds: 3, changes: 9, bookings: 3, payments: 3, events: 8 })
  assert.equal(asOf, later(START, 120_000))
  assert.match(printAudit(report), /^Checked \d+ invariants in \d+ ms.*3 bookings.*\nNo findings\.$/)
})

for (const { what, found, sql } of PLANTS) {
  test(`found and named (${found}): ${what}`, async (t) => {
    const db = await freshDatabase(t)
    await laySale(await postgresGround(db), db.sql)
    await db.sql.unsafe(sql)
    const report = await runAudit(db.sql)
    const finding = report.findings.find(({ invariant }) => invariant === found)
    assert.ok(finding && finding.rows.length > 0, `found instead: ${report.findings.map((f) => f.invariant)}`)
    assert.ok(printAudit(report).includes(`${found}: not so: ${finding.sentence}`))
  })
}

test('every check of the sale has a violation planted for it', () => {
  const planted = new Set(PLANTS.map(({ found }) => found))
  const all = allChecks({ ticketsWithinMs: 0, settledWithinMs: 0, toldWithinMs: 0 })
  const ofTheSale = all.filter((check) => !inventoryChecks.includes(check))
  assert.deepEqual(
    ofTheSale.filter(({ invariant }) => !planted.has(invariant)),
    [],
  )
})

test('what workers still have time for is no finding', async (t) => {
  const db = await freshDatabase(t)
  const ground = await postgresGround(db)
  await laySale(ground, db.sql)
  await db.sql`delete from tickets`
  await db.sql`update outbox set published_at = null, unsent = 1`
  await db.sql.unsafe(QUEUE_AGAIN)
  await ground.at(later(START, 30_000))
  assert.deepEqual((await runAudit(db.sql)).findings, [])
  const hurried = await runAudit(db.sql, { ticketsWithinMs: 29_999, toldWithinMs: 29_999 })
  assert.deepEqual(
    hurried.findings.map(({ invariant }) => invariant),
    ['4 tickets', '6 told in time'],
  )
})
