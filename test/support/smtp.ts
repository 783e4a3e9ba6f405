// A real SMTP server for tests, with the moods of those in the world: away, refusing, slow, breaking off, silent. What it took is opened by mailparser.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AddressObject, type Attachment, type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'

/**
 * `refuse` answers the recipient with this code. `breakOff` hangs up in the middle of the message. `silent` reads the message, keeps it, and says
 * nothing for this long: the sender cannot know whether it was taken.
 */
export type Mood =
  | { kind: 'friendly' }
  | { kind: 'refuse'; code: number }
  | { kind: 'breakOff' }
  | { kind: 'silent'; ms: number }
  | { kind: 'slow'; ms: number }

export type TakenMail = ParsedMail & { envelopeTo: string[]; envelopeFrom: string }

export type TestSmtp = {
  url: string
  taken: TakenMail[]
  /** How many connections it ever had. */
  connections: number
  mood: Mood
  stop(): Promise<void>
  start(): Promise<void>
}

export async function startSmtp(t: Pick<TestContext, 'after'>): Promise<TestSmtp> {
  let server = serve()
  let port = 0
  const smtp: TestSmtp = {
    url: '',
    taken: [],
    connections: 0,
    mood: { kind: 'friendly' },
    async start() {
      server = serve()
      server.listen(port, '127.0.0.1')
      await once(server.server, 'listening')
      port = (server.server.address() as AddressInfo).port
      smtp.url = `smtp://127.0.0.1:${port}`
    },
    async stop() {
      for (const { _socket: socket } of server.connections as unknown as Set<{ _socket?: { destroy(): void } }>)
        socket?.destroy()
      await new Promise<void>((resolve) => server.close(resolve))
    },
  }

  function serve(): SMTPServer {
    const made = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      closeTimeout: 200,
      onConnect(_session, callback) {
        smtp.connections += 1
        if (smtp.mood.kind === 'slow') void sleep(smtp.mood.ms, null, { ref: false }).then(() => callback())
        else callback()
      },
      onRcptTo(_address, _session, callback) {
        if (smtp.mood.kind !== 'refuse') return callback()
        const { code } = smtp.mood
        callback(Object.assign(new Error(`no ${_address.address} here`), { responseCode: code }))
      },
      onData(stream, session, callback) {
        void take(stream, session).then(
          () => callback(),
          () => {},
        )
      },
    })
    made.on('error', () => {})
    return made
  }

  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const { mood } = smtp
    if (mood.kind === 'breakOff') {
      await once(stream, 'data')
      for (const { _socket: socket } of server.connections as unknown as Set<{ _socket?: { destroy(): void } }>)
        socket?.destroy()
      throw new Error('broken off')
    }
    const mail = await simpleParser(stream)
    const { mailFrom, rcptTo } = session.envelope
    smtp.taken.push({
      ...mail,
      envelopeTo: rcptTo.map(({ address }) => address),
      envelopeFrom: mailFrom ? mailFrom.address : '',
    })
    if (mood.kind === 'silent') await sleep(mood.ms, null, { ref: false })
  }

  await smtp.start()
  t.after(() => smtp.stop())
  return smtp
}

export function toOf(mail: TakenMail): AddressObject['value'] {
  return [mail.to ?? []].flat().flatMap(({ value }) => value)
}

/** The file whose name ends so; throws when the mail has none. */
export function attached(mail: TakenMail | undefined, ending: string): Attachment {
  const file = mail?.attachments.find(({ filename }) => filename?.endsWith(`.${ending}`))
  if (!file) throw new Error(`no ${ending} in ${mail?.subject}`)
  return file
}
