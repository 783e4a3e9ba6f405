// Sends what is due: leases a few mails, composes and hands each over outside any transaction, notes what came of it. Any number of workers at once.
//
// At least once: a worker that dies between the server's yes and its own note is followed by another, which sends the mail again under the same
// Message-ID. The other way round, noting before sending, would lose a buyer's tickets instead.
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import type { TicketPrinter } from '#tickets/ticket-printer.ts'
import { composeMail } from './compose-mail.ts'
import { type Carrier, type DueMail, type MailConfig, MailRefused } from './mail.ts'

export type SendParts = { sql: Sql; printer: TicketPrinter; config: MailConfig; carrier: Carrier }

const INTERVAL_MS = 1_000
const MAILS_AT_ONCE = 4
// Longer than drawing and sending may take together.
const LEASE_MS = 120_000
const WAIT_MS = 2_000
const BACKOFF_FIRST_MS = 15_000
const BACKOFF_MAX_MS = 3_600_000
/** A day and a quarter; then a person has to look, and the mail can be asked for anew. */
export const ATTEMPTS_MAX = 36

export function sendMails(parts: SendParts): Worker {
  return { name: 'mail', intervalMs: INTERVAL_MS, run: () => sendDueMails(parts) }
}

/** Until nothing is due. Answers how many were sent. */
export async function sendDueMails(parts: SendParts): Promise<number> {
  for (let sent = 0; ; ) {
    const mails = await claim(parts.sql)
    if (mails.length === 0) return sent
    const results = await Promise.all(mails.map((mail) => send(parts, mail)))
    sent += results.filter((done) => done).length
  }
}

async function claim(sql: Sql): Promise<DueMail[]> {
  return sql<DueMail[]>`
    with clock as materialized (select holdfast_now() as t),
    due as (
      select m.inventory_id, m.id from mails m, clock c where m.status = 'DUE' and m.next_attempt_at <= c.t
      order by m.next_attempt_at limit ${MAILS_AT_ONCE} for update of m skip locked)
    update mails m set attempts = m.attempts + 1, next_attempt_at = c.t + ${LEASE_MS} * interval '1 ms'
    from due d, clock c where m.inventory_id = d.inventory_id and m.id = d.id
    returning m.inventory_id, m.id, m.booking_id, m.kind, m.facts, m.attempts`
}

async function send(parts: SendParts, mail: DueMail): Promise<boolean> {
  try {
    const composition = await composeMail(parts, mail)
    if (composition.outcome === 'MAIL') {
      await parts.carrier(mail, composition.mail)
      await end(parts.sql, mail, 'SENT', null)
      return true
    }
    const { outcome, reason } = composition
    if (outcome === 'SKIP') await end(parts.sql, mail, 'SKIPPED', reason)
    else await wait(parts.sql, mail, reason, composition.until)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof MailRefused || mail.attempts >= ATTEMPTS_MAX) await end(parts.sql, mail, 'PARKED', reason)
    else await backOff(parts.sql, mail, reason)
  }
  return false
}

async function end(sql: Sql, mail: DueMail, status: 'SENT' | 'SKIPPED' | 'PARKED', reason: string | null) {
  await sql`
    update mails set status = ${status}, ended_at = holdfast_now(), last_error = ${reason}
    where inventory_id = ${mail.inventoryId} and id = ${mail.id} and status = 'DUE'`
}

// Waiting is no failure and does not count towards giving up.
async function wait(sql: Sql, mail: DueMail, reason: string, until: string | null): Promise<void> {
  await sql`
    update mails set attempts = attempts - 1, last_error = ${reason},
      next_attempt_at = coalesce(${until}::timestamptz, holdfast_now() + ${WAIT_MS} * interval '1 ms')
    where inventory_id = ${mail.inventoryId} and id = ${mail.id} and status = 'DUE'`
}

async function backOff(sql: Sql, mail: DueMail, reason: string): Promise<void> {
  const pauseMs = Math.min(BACKOFF_FIRST_MS * 2 ** (mail.attempts - 1), BACKOFF_MAX_MS)
  await sql`
    update mails set last_error = ${reason}, next_attempt_at = holdfast_now() + ${pauseMs} * interval '1 ms'
    where inventory_id = ${mail.inventoryId} and id = ${mail.id} and status = 'DUE'`
}
