// What of this room runs by itself: a consumer that queues, a worker that sends, a worker that reminds; nothing where nobody carries mail.
import type { Worker } from '#core/workers.ts'
import type { Sql } from '#database/connect.ts'
import type { Consumer } from '#outbox/sink.ts'
import type { TicketPrinter } from '#tickets/ticket-printer.ts'
import { carriedBy, type MailConfig } from './mail.ts'
import { mailboxCarrier } from './mailbox.ts'
import { mailConsumer } from './queue-mails.ts'
import { remindBuyers } from './remind-buyers.ts'
import { sendMails } from './send-mails.ts'
import { smtpCarrier } from './smtp-carrier.ts'

type Parts = { sql: Sql; config: MailConfig; printer: TicketPrinter; wake: (worker: string) => void }

export function mailConsumers(parts: Omit<Parts, 'printer'>): Consumer[] {
  return carriedBy(parts.config) === 'NOBODY' ? [] : [mailConsumer(parts)]
}

export function mailWorkers(parts: Parts): Worker[] {
  const { sql, config } = parts
  const carrying = carriedBy(config)
  if (carrying === 'NOBODY') return []
  const carrier = carrying === 'SMTP' ? smtpCarrier(config) : mailboxCarrier(sql)
  return [sendMails({ ...parts, carrier }), remindBuyers(parts)]
}
