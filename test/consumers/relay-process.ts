// A process of its own that relays and sends mail, and stops dead at the step it is told: it prints the step's name there and waits to be killed.
// argv: address of the database, configuration as environment, the step (or `none`).
import { loadConfig } from '#config.ts'
import { connect } from '#database/connect.ts'
import type { Carrier } from '#mail/mail.ts'
import { sendDueMails } from '#mail/send-mails.ts'
import { smtpCarrier } from '#mail/smtp-carrier.ts'
import type { OutboxEvent } from '#outbox/event.ts'
import { relayEvents } from '#outbox/relay.ts'
import { type Consumer, inProcessSink } from '#outbox/sink.ts'
import { loadTicketKey } from '#tickets/ticket-key.ts'
import { createTicketPrinter } from '#tickets/ticket-printer.ts'
import { allConsumers } from '../../src/all-workers.ts'

const [address = '{}', env = '{}', stopAt = 'none'] = process.argv.slice(2)
const sql = connect(JSON.parse(address), { max: 6, name: 'crash' })
const config = loadConfig(JSON.parse(env))
const printer = createTicketPrinter()

/** At the step this process is to die at it goes no further. */
async function reached(step: string): Promise<void> {
  if (step !== stopAt) return
  console.log(step)
  await new Promise(() => setInterval(() => {}, 1_000))
}

const consumers = allConsumers(sql, { config, ticketKey: await loadTicketKey(sql), wake: () => {} }).map(
  (consumer): Consumer => ({
    ...consumer,
    async consume(event: OutboxEvent) {
      await reached(`before ${consumer.name} ${event.name}`)
      await consumer.consume(event)
      await reached(`after ${consumer.name} ${event.name}`)
    },
  }),
)
const smtp = smtpCarrier(config)
const carrier: Carrier = async (mail, composed) => {
  await reached('before sending')
  await smtp(mail, composed)
  await reached('after sending')
}
await relayEvents(sql, [inProcessSink(consumers)])
await sendDueMails({ sql, config, printer, carrier })
await printer.close()
await sql.end()
console.log('done')
