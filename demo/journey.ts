// npm run demo:journey: the story of two families, over HTTP, on a system of its own. Time passes by moving the database's clock, not by waiting.
// Each step says what must happen and what did; the command fails if one differs.
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '#config.ts'
import { createLog } from '#core/log.ts'
import { formatMoney } from '#core/money.ts'
import { connect, type Sql } from '#database/connect.ts'
import { attachEmbeddedPostgres } from '#database/embedded.ts'
import { startHoldfast } from '#main.ts'
import { type Answer, ask, type Customer, newCustomer } from './client.ts'

const BOARD_MS = 300
const MINUTE_MS = 60_000
const WAIT_MAX_MS = 15_000
const dir = mkdtempSync(join(tmpdir(), 'holdfast-journey-'))
// As root the embedded PostgreSQL runs as somebody else, who must be able to enter.
chmodSync(dir, 0o711)
// The sweeper is switched off: seats come free by the clock alone.
const config = loadConfig({ HOLDFAST_DATA: dir, PORT: '0', SWEEP_INTERVAL_MS: '0', LOG_LEVEL: 'fatal' })

let failures = 0
const startedMs = performance.now()
console.log('Starting a Holdfast of its own, with the sweeper switched off ...')
const holdfast = await startHoldfast({ config, log: createLog('fatal') })
const postgres = await attachEmbeddedPostgres({ dir, log: () => {} })
const sql = connect(postgres.options, { max: 1, name: 'holdfast-journey' })
try {
  await play(holdfast.url ?? '')
} finally {
  await sql.end()
  await holdfast.close()
  rmSync(dir, { recursive: true, force: true })
}
console.log(
  failures === 0
    ? `\nEvery step went as it must, in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s.`
    : `\n${failures} steps went otherwise.`,
)
process.exitCode = failures === 0 ? 0 : 1

async function play(url: string): Promise<void> {
  const show = await findShow(url)
  const [a, b] = [await newCustomer(url), await newCustomer(url)]
  console.log(`\n${show.title}, ${show.place}, ${show.startsLocal}\n`)

  chapter('Family A takes F5 to F8')
  const held = await a.ask('POST', `/v1/showtimes/${show.id}/holds`, { seats: ['F5', 'F6', 'F7', 'F8'] })
  step(
    'A holds F5-F8 for ten minutes',
    held.status === 201 && held.body.seats.length === 4,
    `${held.status}, ${money(held)}, until ${held.body.expiresAt}`,
  )
  const refused = await b.ask('POST', `/v1/showtimes/${show.id}/holds`, { seats: ['F7', 'F8'] })
  step(
    'B wants F7 and F8 and is told exactly why not',
    refused.status === 409,
    `${refused.status} ${refused.body.code}: ${refused.body.seats?.map((seat: { code: string; reason: string }) => `${seat.code} ${seat.reason}`).join(', ')}`,
  )
  const aBooking = await checkout(a, held.body.holdId)
  step(
    'A goes to the payment page',
    aBooking.status === 201,
    `${aBooking.status}, booking ${aBooking.body.reference}, pay at ${String(aBooking.body.paymentUrl).replace(url, '')}`,
  )

  chapter("A pays in time, but the provider's message takes twelve minutes")
  const late = { fault: 'captured', callbackAfterMs: 12 * MINUTE_MS }
  const paid = await ask(url, 'POST', `${aBooking.body.paymentUrl}/pay`, late)
  step(
    'A pays at once; the money is taken by a provider that cannot reserve it first',
    paid.body.status === 'CAPTURED',
    `the provider says ${paid.body.status}`,
  )
  const end = aBooking.body.expiresAt
  await setClock(sql, `timestamptz '${end}' - interval '2 seconds'`)
  step(
    "two seconds before the hold's end F7 is still held",
    (await statusOf(url, show.id, 'F7')) === 'HELD',
    `F7 is ${await statusOf(url, show.id, 'F7')}`,
  )
  await setClock(sql, `timestamptz '${end}'`)
  step(
    'at the very end it is free, although nothing has swept it',
    (await statusOf(url, show.id, 'F7')) === 'AVAILABLE',
    `F7 is ${await statusOf(url, show.id, 'F7')}`,
  )

  chapter('Family B takes F7 and F8')
  const bHold = await b.ask('POST', `/v1/showtimes/${show.id}/holds`, { seats: ['F7', 'F8'] })
  step('B holds F7 and F8', bHold.status === 201, `${bHold.status}, ${money(bHold)}`)
  const bBooking = await checkout(b, bHold.body.holdId)
  step('B goes to the payment page', bBooking.status === 201, `booking ${bBooking.body.reference}`)

  chapter("A's message arrives, too late")
  await setClock(sql, `timestamptz '${end}' + interval '3 minutes'`)
  const aEnd = await until(a, aBooking.body.bookingId, (body) =>
    body.refunds.some((refund: { status: string }) => refund.status === 'DONE'),
  )
  step(
    "A's money is refunded, once and in full; A has no seat of what was left",
    aEnd.body.refunds.length === 1 && aEnd.body.status !== 'CONFIRMED',
    `booking ${aEnd.body.status}, refund of ${formatMoney(aEnd.body.refunds[0].amount)} ${aEnd.body.refunds[0].status}`,
  )

  chapter('B pays')
  await ask(url, 'POST', `${bBooking.body.paymentUrl}/pay`, { fault: 'twice' })
  const bEnd = await until(
    b,
    bBooking.body.bookingId,
    (body) => body.status === 'CONFIRMED' && body.tickets.length === 2,
  )
  step(
    "B's booking is confirmed, with a ticket a seat",
    bEnd.body.status === 'CONFIRMED',
    `booking ${bEnd.body.status}, tickets for ${bEnd.body.tickets.map((ticket: { seat: string }) => ticket.seat).join(', ')}`,
  )
  const again = await bookingOf(b, bBooking.body.bookingId)
  const messages = await sql`select 1 from payment_callbacks`
  step(
    'the message came several times and changed nothing more',
    again.body.tickets.length === 2 && again.body.payments.length === 1,
    `${again.body.payments.length} payment, ${again.body.tickets.length} tickets, ${messages.length} different messages kept in the inbox`,
  )

  chapter('B cancels')
  const quote = await b.ask('GET', `/v1/bookings/${bBooking.body.bookingId}/cancellation`)
  step(
    'B is told first what comes back',
    quote.status === 200,
    `${formatMoney(quote.body.refund ?? quote.body.amount)}`,
  )
  const cancelled = await b.ask('DELETE', `/v1/bookings/${bBooking.body.bookingId}`)
  step(
    'B cancels, and F7 is on sale again at once',
    cancelled.status === 200 && (await statusOf(url, show.id, 'F7')) === 'AVAILABLE',
    `${cancelled.status}, F7 is ${await statusOf(url, show.id, 'F7')}`,
  )
  const bGone = await until(b, bBooking.body.bookingId, (body) =>
    body.refunds.some((refund: { status: string }) => refund.status === 'DONE'),
  )
  step(
    "B's money is on its way back, once",
    bGone.body.refunds.length === 1,
    `booking ${bGone.body.status}, refund ${bGone.body.refunds[0].status}`,
  )

  chapter('The books')
  const audit = await auditOf(url)
  step('the audit checks every invariant and finds nothing', audit.findings === 0, `${audit.findings} findings`)
}

function chapter(title: string): void {
  console.log(`\n${title}`)
}

function step(claim: string, holds: boolean, seen: string): void {
  if (!holds) failures++
  console.log(`  ${holds ? 'ok ' : 'NOT'}  ${claim}\n        ${seen}`)
}

function money({ body }: Answer): string {
  return body.amount ? formatMoney(body.amount) : JSON.stringify(body)
}

async function findShow(url: string): Promise<{ id: string; title: string; place: string; startsLocal: string }> {
  const { body } = await ask(url, 'GET', '/v1/showtimes?limit=100')
  for (const show of body.items) {
    // Far enough ahead that the story's minutes do not reach its start, and a cancellation still gives everything back.
    if (Date.parse(show.startsAt) < Date.now() + 6 * 60 * MINUTE_MS) continue
    const map = await ask(url, 'GET', `/v1/showtimes/${show.id}/seats`)
    const free = new Set(
      map.body.seats
        .filter((seat: { status: string }) => seat.status === 'AVAILABLE')
        .map((seat: { code: string }) => seat.code),
    )
    if (['F5', 'F6', 'F7', 'F8'].every((code) => free.has(code))) {
      return {
        id: show.id,
        title: show.movie.title,
        place: `${show.cinema.name}, ${show.screen.name}`,
        startsLocal: show.startsLocal,
      }
    }
  }
  throw new Error('no show of the demonstration has F5 to F8 free')
}

function checkout(customer: Customer, holdId: string): Promise<Answer> {
  return customer.ask('POST', `/v1/holds/${holdId}/checkout`, {}, { 'idempotency-key': randomUUID() })
}

function bookingOf(customer: Customer, bookingId: string): Promise<Answer> {
  return customer.ask('GET', `/v1/bookings/${bookingId}`)
}

/** Workers run in their own time, some hundred milliseconds. */
async function until(
  customer: Customer,
  bookingId: string,
  reached: (body: Answer['body']) => boolean,
): Promise<Answer> {
  const deadlineMs = performance.now() + WAIT_MAX_MS
  for (;;) {
    const answer = await bookingOf(customer, bookingId)
    if (reached(answer.body) || performance.now() > deadlineMs) return answer
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function statusOf(url: string, showId: string, code: string): Promise<string> {
  const { body } = await ask(url, 'GET', `/v1/showtimes/${showId}/seats`)
  return body.seats.find((seat: { code: string }) => seat.code === code)?.status ?? 'unknown'
}

/** The clock stands at `at` afterwards; the product itself has no way to do this. */
async function setClock(database: Sql, at: string): Promise<void> {
  await database.unsafe(
    `create or replace function holdfast_now() returns timestamptz language sql volatile as $$ select ${at} $$`,
  )
  // The seat board asks for the clock ten times a second; a map may be as old as that.
  await new Promise((resolve) => setTimeout(resolve, BOARD_MS))
}

async function auditOf(url: string): Promise<{ findings: number }> {
  const { body } = await ask(url, 'GET', '/v1/admin/audit', undefined, {
    authorization: `Bearer ${holdfast.newAdminKey}`,
  })
  return { findings: body.findings?.length ?? Number.NaN }
}
