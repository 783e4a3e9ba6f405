// The small sale with buyers who give an address, and a mail server that takes what they are sent.
import type { TestContext } from 'node:test'
import type { Contact } from '#bookings/open-booking.ts'
import type { Environment } from '#config.ts'
import { parseSharded } from '#core/ids.ts'
import { type SendParts, sendDueMails } from '#mail/send-mails.ts'
import { smtpCarrier } from '#mail/smtp-carrier.ts'
import { startCheckout } from '#payments/start-checkout.ts'
import { type HoldWish, type SaleOptions, testSale } from '#test/sale/test-sale.ts'
import { startSmtp } from '#test/support/smtp.ts'
import { createTicketPrinter } from '#tickets/ticket-printer.ts'

export const FROM = 'tickets@cinema.example'
export const BUYER = { email: 'ann@example.org', name: 'Ann O’Neill' }
const IMPATIENT_MS = 3_000

export type MailSale = Awaited<ReturnType<typeof mailSale>>

export async function mailSale(t: TestContext, options: SaleOptions = {}, env: Environment = {}) {
  const smtp = await startSmtp(t)
  const sale = await testSale(t, { ...options, env: { SMTP_URL: smtp.url, MAIL_FROM: FROM, ...env } })
  const printer = createTicketPrinter()
  t.after(() => printer.close())
  const { sql } = sale
  const { config } = sale.parts
  const parts: SendParts = { sql, printer, config, carrier: smtpCarrier(config) }
  async function ordered(seats: string[], contact: Contact = BUYER, wish: HoldWish = {}) {
    const hold = await sale.hold(seats, wish)
    const checkout = await startCheckout(sale.parts, { ...hold, contact })
    return { hold, checkout, bookingId: parseSharded('book', checkout.bookingId).uuid }
  }

  return {
    ...sale,
    smtp,
    /** Gives a server up after three seconds instead of half a minute. */
    impatient: smtpCarrier({ ...config, sendWithinMs: IMPATIENT_MS }),
    order: ordered,
    /** From the hold to the ticket; the mail is queued and not sent. */
    async book(seats: string[], contact: Contact = BUYER, wish: HoldWish = {}) {
      const order = await ordered(seats, contact, wish)
      await sale.pay(order.checkout)
      await sale.work()
      return order
    },
    sendMails: (changes: Partial<SendParts> = {}) => sendDueMails({ ...parts, ...changes }),
    /** Kind and status of every mail, in the order they were queued. */
    async mails(): Promise<string[]> {
      const rows = await sql<
        { text: string }[]
      >`select kind || ' ' || status as text from mails order by created_at, kind`
      return rows.map(({ text }) => text)
    },
  }
}
