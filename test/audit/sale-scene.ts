// A small sound sale, written row by row and independently of the code that would write it, for the audit to look at.
import type { Sql } from '#database/connect.ts'
import { book, type Ground, hold, later, openRow, START } from '#test/contract/ground.ts'

// Ben's booking: F1 and F2, 700 each, one place of GA for 0; captured, F2 cancelled and refunded. Cleo's: F3, paid too late, let go. Dora's: F4, pending.
export async function laySale(ground: Ground, sql: Sql): Promise<void> {
  const inventoryId = await openRow(ground, { pools: [{ code: 'GA', capacity: 5 }] })
  const ben = { inventoryId, customerId: 'ben', seats: ['F1', 'F2'], pools: [{ code: 'GA', quantity: 1 }] }
  const { bookingId, holdId } = await book(ground, ben)
  const lines: [string | null, string | null, number][] = [
    ['F1', null, 700],
    ['F2', null, 700],
    [null, 'GA', 0],
  ]
  await writeBooking(sql, { id: bookingId, holdId, customerId: 'ben', status: 'CONFIRMED', lines })
  await ground.store.cancel(inventoryId, bookingId, { seats: ['F2'], pools: [] })
  await sql`update booking_lines set status = 'CANCELLED' where seat_code = 'F2'`
  await writePayment(sql, { bookingId, status: 'CAPTURED', pays: true, settled: ['CAPTURE', 1_400], refund: 700 })
  for (const line of [1, 3])
    await sql`insert into tickets (inventory_id, id, booking_id, line_no, unit_no, code, issued_at)
      values (1, gen_random_uuid(), ${bookingId}, ${line}, 1, 'HF1', holdfast_now())`
  await writeEvents(sql, bookingId, ['BookingPending', 'BookingConfirmed', 'PaymentCaptured', 'BookingPartlyCancelled'])

  for (const [customerId, seat, status] of [
    ['cleo', 'F3', 'FAILED'],
    ['dora', 'F4', 'PENDING'],
  ] as const) {
    const ttlMs = status === 'FAILED' ? 1_000 : 600_000
    const heldId = await hold(ground, { inventoryId, customerId, seats: [seat], ttlMs })
    await ground.store.checkOut(inventoryId, heldId, 0)
    const id = heldId
    await writeBooking(sql, { id, holdId: heldId, customerId, status, lines: [[seat, null, 900]] })
    const late = status === 'FAILED'
    await writePayment(sql, {
      bookingId: id,
      status: late ? 'VOIDED' : 'CREATED',
      pays: false,
      settled: late ? ['VOID', 900] : null,
    })
    await writeEvents(sql, id, late ? ['BookingPending', 'BookingFailed', 'PaymentVoided'] : ['BookingPending'])
  }
  await ground.at(later(START, 120_000))
}

type BookingRow = {
  id: string
  holdId: string
  customerId: string
  status: string
  /** Seat or pool, and what it costs. */
  lines: [string | null, string | null, number][]
}

async function writeBooking(sql: Sql, { id, holdId, customerId, status, lines }: BookingRow): Promise<void> {
  const amount = lines.reduce((sum, [, , minor]) => sum + minor, 0)
  await sql`
    insert into bookings (inventory_id, id, reference, customer_id, hold_id, status, amount_minor, currency, created_at, expires_at, confirmed_at, ended_at)
    select 1, ${id}, upper(${customerId}::text), ${customerId}, ${holdId}, ${status}, ${amount}, 'EUR', n.t, n.t + interval '10 minutes',
      case when ${status} = 'CONFIRMED' then n.t end, case when ${status} = 'FAILED' then n.t end from (select holdfast_now() as t offset 0) n`
  for (const [index, [seat, pool, minor]] of lines.entries())
    await sql`insert into booking_lines (inventory_id, booking_id, line_no, seat_code, pool_code, quantity, category, amount_minor)
      values (1, ${id}, ${index + 1}, ${seat}, ${pool}, 1, 'STANDARD', ${minor})`
}

type PaymentRow = {
  bookingId: string
  status: string
  pays: boolean
  settled: [string, number] | null
  refund?: number
}

async function writePayment(sql: Sql, { bookingId, status, pays, settled, refund = 0 }: PaymentRow): Promise<void> {
  const [payment] = await sql<{ id: string }[]>`
    insert into payments (inventory_id, id, booking_id, provider, status, pays, amount_minor, currency, captured_minor, refunded_minor,
      session_expires_at, created_at, updated_at)
    select 1, gen_random_uuid(), b.id, 'sandbox', ${status}, ${pays}, b.amount_minor, 'EUR',
      case when ${status} = 'CAPTURED' then b.amount_minor else 0 end, ${refund}, n.t, n.t, n.t
    from bookings b, (select holdfast_now() as t offset 0) n where b.id = ${bookingId} returning id`
  const done: [string, number][] = [
    ...(settled ? [settled] : []),
    ...(refund > 0 ? [['REFUND', refund] as [string, number]] : []),
  ]
  for (const [kind, minor] of done)
    await sql`insert into settlements (inventory_id, id, payment_id, booking_id, kind, amount_minor, currency, reason, status, next_attempt_at, created_at)
      select 1, gen_random_uuid(), ${payment?.id ?? null}, ${bookingId}, ${kind}, ${minor}, 'EUR', 'test', 'DONE', n.t, n.t
      from (select holdfast_now() as t offset 0) n`
}

async function writeEvents(sql: Sql, bookingId: string, names: string[]): Promise<void> {
  await sql`update bookings set event_seq = ${names.length} where id = ${bookingId}`
  for (const [index, name] of names.entries())
    await sql`insert into outbox (inventory_id, id, booking_id, seq, name, payload, created_at, published_at)
      select 1, gen_random_uuid(), ${bookingId}, ${index + 1}, ${name}, '{}', n.t, n.t from (select holdfast_now() as t offset 0) n`
}
