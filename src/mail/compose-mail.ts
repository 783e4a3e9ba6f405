// Makes a mail of a booking as it is at this moment: what was true when the mail was queued may be over by the time it can be sent.
import { formatMoney } from '#core/money.ts'
import type { Sql } from '#database/connect.ts'
import { noteCalendar } from '#tickets/calendar-state.ts'
import { plainText } from '#tickets/plain-text.ts'
import { qrPng } from '#tickets/qr-image.ts'
import { startInWords } from '#tickets/start-in-words.ts'
import type { TicketPrinter } from '#tickets/ticket-printer.ts'
import { readSheet, type TicketSheet } from '#tickets/ticket-sheet.ts'
import { writeCalendar } from '#tickets/write-calendar.ts'
import { layOutHtml, layOutText, type MailContent } from './lay-out.ts'
import type { Attachment, ComposedMail, DueMail, MailConfig, MailKind } from './mail.ts'
import { ENGLISH, type Texts } from './texts.ts'

type Parts = { sql: Sql; printer: TicketPrinter; config: MailConfig }
type Recipient = { email: string | null; name: string | null; ticketsDue: number; now: string; reminderAt: string }
/** SKIP: it is pointless now. WAIT: not yet; `until` null is shortly. */
export type Composition =
  | { outcome: 'MAIL'; mail: ComposedMail }
  | { outcome: 'SKIP'; reason: string }
  | { outcome: 'WAIT'; reason: string; until: string | null }

const WITH_TICKETS: MailKind[] = ['CONFIRMATION', 'PART_CANCELLATION', 'REMINDER']
const TEXTS: Texts = ENGLISH

export async function composeMail(parts: Parts, due: DueMail): Promise<Composition> {
  const { sql, config } = parts
  const sheet = await readSheet(sql, due.inventoryId, due.bookingId)
  const recipient = await readRecipient(sql, due, config)
  if (!sheet || !recipient?.email) return { outcome: 'SKIP', reason: 'the booking has no address any more' }
  const obstacle = whyNotNow(due, sheet, recipient)
  if (obstacle) return obstacle
  const content = contentOf(due, sheet, config)
  return {
    outcome: 'MAIL',
    mail: {
      to: { name: plainText(recipient.name ?? ''), address: recipient.email },
      subject: content.text.subject,
      text: layOutText(TEXTS, content),
      html: layOutHtml(TEXTS, content),
      attachments: await attachmentsOf(parts, due, sheet),
    },
  }
}

async function readRecipient(sql: Sql, { inventoryId, bookingId }: DueMail, { reminderBeforeMs }: MailConfig) {
  const [row] = await sql<Recipient[]>`
    select b.email, b.name, c.t as now, d.starts_at - ${reminderBeforeMs} * interval '1 ms' as reminder_at,
      (select coalesce(sum(l.quantity), 0)::int from booking_lines l
        where l.inventory_id = b.inventory_id and l.booking_id = b.id and l.status = 'ACTIVE') as tickets_due
    from (select holdfast_now() as t offset 0) c, bookings b join inventory_descriptions d on d.inventory_id = b.inventory_id
    where b.inventory_id = ${inventoryId} and b.id = ${bookingId}`
  return row ?? null
}

// Trap 42: no mail may hand out what is not, or is no longer, sold.
function whyNotNow({ kind }: DueMail, sheet: TicketSheet, recipient: Recipient): Composition | null {
  const booked = sheet.status === 'CONFIRMED'
  if (WITH_TICKETS.includes(kind) && !booked)
    return { outcome: 'SKIP', reason: `the booking is ${sheet.status} by now` }
  if ((kind === 'PAYMENT_FAILED' || kind === 'NOT_BOOKED') && booked)
    return { outcome: 'SKIP', reason: 'the booking was paid meanwhile' }
  if (kind === 'REMINDER' && sheet.startsAt <= recipient.now) return { outcome: 'SKIP', reason: 'the show has begun' }
  if (kind === 'REMINDER' && recipient.now < recipient.reminderAt)
    return { outcome: 'WAIT', reason: 'the show was moved', until: recipient.reminderAt }
  if (WITH_TICKETS.includes(kind) && sheet.tickets.length < recipient.ticketsDue)
    return { outcome: 'WAIT', reason: 'the tickets are not issued yet', until: null }
  return null
}

function contentOf({ kind, facts }: DueMail, sheet: TicketSheet, { mailLink }: MailConfig): MailContent {
  const starts = startInWords(sheet.startsAt, sheet.timeZone, TEXTS.language)
  const ours = sheet.tickets.map(({ place }) => place).join(', ')
  const told = (facts.seats ?? []).map(plainText).join(', ')
  const text = TEXTS.mails[kind]({
    reference: sheet.reference,
    title: sheet.title,
    seats: told,
    seatsLeft: ours,
    money: facts.money ? formatMoney(facts.money) : null,
    moneyIsZero: facts.money?.amount === 0,
    wasPaid: sheet.wasConfirmed,
  })
  const { labels } = TEXTS
  const seats = WITH_TICKETS.includes(kind) ? ours : told
  return {
    text,
    name: sheet.name,
    facts: [
      [labels.film, sheet.title],
      [labels.where, [sheet.venue, sheet.area].filter(Boolean).join(', ')],
      [labels.when, `${starts.day}, ${starts.time}`],
      [labels.zone, starts.zone],
      ...(seats ? [[labels.seats, seats] satisfies [string, string]] : []),
      [labels.booking, sheet.reference],
    ],
    link: mailLink ? `${mailLink}/${sheet.bookingId}` : null,
    qrs: WITH_TICKETS.includes(kind) ? sheet.tickets.map(({ id, place }) => ({ inlineId: inlineIdOf(id), place })) : [],
  }
}

async function attachmentsOf({ sql, printer }: Parts, { kind }: DueMail, sheet: TicketSheet): Promise<Attachment[]> {
  const files: Attachment[] = []
  if (WITH_TICKETS.includes(kind)) {
    const content = await printer.print(sheet)
    files.push({ name: `tickets-${sheet.reference}.pdf`, type: 'application/pdf', content, inlineId: null })
  }
  if (WITH_TICKETS.includes(kind) || kind === 'CANCELLATION') {
    const content = Buffer.from(writeCalendar(sheet, await noteCalendar(sql, sheet)))
    const method = kind === 'CANCELLATION' ? 'CANCEL' : 'PUBLISH'
    const type = `text/calendar; charset=utf-8; method=${method}`
    files.push({ name: `tickets-${sheet.reference}.ics`, type, content, inlineId: null })
  }
  if (!WITH_TICKETS.includes(kind)) return files
  const codes = sheet.tickets.map(({ id, code, place: _place }, index): Attachment => {
    return { name: `code-${index + 1}.png`, type: 'image/png', content: qrPng(code), inlineId: inlineIdOf(id) }
  })
  return [...files, ...codes]
}

function inlineIdOf(ticketId: string): string {
  return `${ticketId}@holdfast`
}
