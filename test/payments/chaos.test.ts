// alone: payment chaos (reliability 3.7). Messages lost, repeated, late, forged and false; calls done and never answered; refunds that fail; disputes.
// At the end the sandbox's books and ours are equal to the minor unit, nothing is undecided, the audit is clean, and each named thing has happened.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAudit } from '#admin/run-audit.ts'
import { Problem } from '#core/problem.ts'
import { cancelBooking } from '#payments/cancel-booking.ts'
import { lookUpPending } from '#payments/look-up-payments.ts'
import { paySession } from '#payments/providers/sandbox-session.ts'
import { reconcile } from '#payments/reconcile.ts'
import { settleDueDebts } from '#payments/settle-debts.ts'
import { type Checkout, startCheckout } from '#payments/start-checkout.ts'
import { chance, printedSeed } from '#test/races/processes.ts'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { HOLD_MS, type TestHold, type TestSale, testSale } from '#test/sale/test-sale.ts'

const PAYMENTS = Number(process.env.HOLDFAST_TEST_PAYMENTS ?? (process.env.HOLDFAST_TEST_LONG ? 50_000 : 2_000))
const BUYERS_AT_ONCE = 8
const HOUR_MS = 3_600_000
const THREE_DAYS_MS = 72 * HOUR_MS

// In a thousand; the rest goes well. Faults of one line come together.
const MIX: [perMille: number, faults: string[]][] = [
  [50, ['never']],
  [200, ['twice']],
  [100, ['late']],
  [20, ['declined_first']],
  [20, ['out_of_order']],
  [10, ['reply_lost:capture']],
  [10, ['reply_lost:open', 'captured']],
  [10, ['reply_lost:void', 'late']],
  [10, ['reply_lost:refund', 'captured', 'late']],
  [10, ['error:capture', 'error:look_up']],
  [10, ['error:refund', 'captured', 'late']],
  [10, ['error:open']],
  [2, ['slow:capture']],
  [10, ['wrong_amount']],
  [10, ['wrong_currency', 'captured']],
  [10, ['unknown_payment']],
  [20, ['refund_fails', 'captured', 'late']],
  [10, ['refund_pending', 'captured', 'late']],
  [10, ['disputed']],
  [20, ['forged']],
  [10, ['old_secret']],
  [10, ['stale']],
  [50, ['captured']],
]

type Random = (below: number) => number

test(`${PAYMENTS} payments in chaos: equal books, nothing stranded, every named thing seen`, async (t) => {
  const seed = printedSeed()
  const random = chance(seed)
  const seats = Array.from({ length: PAYMENTS }, (_, index) => `S${index + 1}`)
  const sale = await testSale(t, { seats, env: { LOG_LEVEL: 'silent' } })
  const waiting = [...seats]
  const buyer = async () => {
    for (let seat = waiting.pop(); seat; seat = waiting.pop()) await buyInChaos(sale, seat, random)
  }
  await Promise.all(Array.from({ length: BUYERS_AT_ONCE }, buyer))
  // Time passes; at each stop the workers of two processes find what there is to do, and some buyers change their minds.
  for (const at of [0, HOLD_MS / 2, HOLD_MS + 1, 3 * HOLD_MS, HOUR_MS, 3 * HOUR_MS, THREE_DAYS_MS, 2 * THREE_DAYS_MS]) {
    await sale.db.shiftClock(at)
    await workTwice(sale)
    if (at === 0) await someCancel(sale, random)
    await workTwice(sale)
  }

  await assertSoundBooks(sale.sql)
  const { findings } = await runAudit(sale.sql)
  assert.deepEqual(findings, [])
  const { differences, totals } = await reconcile(sale.parts, '2000-01-01T00:00:00Z', '2100-01-01T00:00:00Z')
  assert.deepEqual(new Set(differences.map(({ kind }) => kind)), new Set(['DISPUTE']))
  assert.deepEqual(
    totals.map(({ restMinor, owedMinor, differencesMinor }) => ({ restMinor, owedMinor, differencesMinor })),
    [{ restMinor: 0, owedMinor: 0, differencesMinor: 0 }],
  )
  assert.deepEqual(await neverSeen(sale), [])
})

async function buyInChaos(sale: TestSale, seat: string, random: Random): Promise<void> {
  const hold = await sale.hold([seat])
  const faults = drawFaults(random)
  // Two attempts at one booking are both paid.
  if (random(100) === 0) {
    const first = await checkOut(sale, hold, ['never'])
    await paySession(sale.sql, idOf(first))
    await sale.send(await sale.message('declined', first))
  }
  const checkout = await checkOut(sale, hold, faults)
  const draw = random(1_000)
  if (draw < 30) return
  const callbackAfterMs = draw < 230 ? random(3 * HOLD_MS) : draw < 250 ? THREE_DAYS_MS : 0
  await paySession(sale.sql, idOf(checkout), callbackAfterMs > 0 ? { callbackAfterMs } : {})
}

// As a buyer does: once more when the provider did not answer.
async function checkOut(sale: TestSale, hold: TestHold, faults: string[]): Promise<Checkout> {
  const order = { ...hold, contact: {}, faults }
  return startCheckout(sale.parts, order).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'PAYMENT_PROVIDER_UNAVAILABLE')
      return startCheckout(sale.parts, order)
    throw error
  })
}

function drawFaults(random: Random): string[] {
  let left = random(1_000)
  for (const [perMille, faults] of MIX) {
    if (left < perMille) return faults
    left -= perMille
  }
  return []
}

function idOf({ paymentUrl }: Checkout): string {
  return paymentUrl?.split('/').at(-1) ?? ''
}

async function someCancel(sale: TestSale, random: Random): Promise<void> {
  const confirmed = await sale.sql<{ id: string }[]>`select id from bookings where status = 'CONFIRMED' order by id`
  for (const { id } of confirmed) {
    if (random(20) !== 0) continue
    await cancelBooking(
      sale.parts as Parameters<typeof cancelBooking>[0],
      { inventoryId: sale.inventoryId, bookingId: id },
      null,
    )
  }
}

async function workTwice(sale: TestSale): Promise<void> {
  for (let done = 1; done > 0; ) {
    const one = async () =>
      (await sale.deliver()) + (await settleDueDebts(sale.parts)) + (await lookUpPending(sale.parts))
    const results = await Promise.all([one(), one(), sale.expire()])
    done = results.reduce((sum, count) => sum + count, 0)
  }
  while ((await sale.relay()) > 0);
}

/** What this run should have met with and did not. */
async function neverSeen(sale: TestSale): Promise<string[]> {
  const { sql } = sale
  const [seen] = await sql<Record<string, boolean>[]>`
    select exists (select from payment_callbacks where outcome = 'CONFIRMED') as confirmed,
      exists (select from payment_callbacks where outcome = 'LATE') as late,
      exists (select from payment_callbacks where outcome = 'SURPLUS') as surplus,
      exists (select from payment_callbacks where outcome = 'NOTED') as noted,
      exists (select from payment_callbacks where event_id like 'look-up%' and outcome = 'LATE') as found_by_asking,
      exists (select from settlements where kind = 'VOID' and reason = 'LATE' and status = 'DONE') as late_voided,
      exists (select from settlements where kind = 'REFUND' and reason = 'LATE' and status = 'DONE') as late_refunded,
      exists (select from settlements where kind = 'VOID' and reason = 'SURPLUS' and status = 'DONE') as surplus_voided,
      exists (select from settlements where kind = 'REFUND' and reason = 'CANCELLED' and status = 'DONE') as cancelled_refunded,
      exists (select from settlements where tries > 1 and status = 'DONE') as refund_tried_again,
      exists (select from settlements where attempts > 1 and status = 'DONE') as call_repeated,
      exists (select from worklist where kind = 'AMOUNT_MISMATCH') as mismatched,
      exists (select from worklist where kind = 'UNKNOWN_PAYMENT') as unknown,
      exists (select from worklist where kind = 'DISPUTE') as disputed,
      exists (select from bookings where status = 'EXPIRED') as expired,
      exists (select from bookings where status = 'CANCELLED') as cancelled,
      exists (select from payments where status = 'FAILED' or status = 'EXPIRED') as unpaid`
  return Object.entries(seen ?? {}).flatMap(([name, yes]) => (yes ? [] : [name]))
}
