// Hands mails to a mail server by SMTP, one connection a mail, each within its time.
import { createTransport } from 'nodemailer'
import type { Carrier } from './mail.ts'
import { MailRefused } from './mail.ts'

type Settings = { smtpUrl: string; mailFrom: string; sendWithinMs?: number }
type SmtpError = Error & { code?: string; responseCode?: number; command?: string }

// All of it: looking up, connecting, greeting, sending, being told yes. The server's silence and its slowness end the same way.
export const SEND_WITHIN_MS = 30_000

/**
 * A time-out or a lost connection says nothing of whether the mail was taken: it is sent again under the same Message-ID, by which mailboxes and people
 * know it. A no to the recipient or to the message is for good; a no to us (password, sender, greylisting) is not this mail's fault.
 */
export function smtpCarrier({ smtpUrl, mailFrom, sendWithinMs = SEND_WITHIN_MS }: Settings): Carrier {
  const timeouts = { connectionTimeout: sendWithinMs, greetingTimeout: sendWithinMs, socketTimeout: sendWithinMs }
  const transport = createTransport({ url: smtpUrl, ...timeouts, disableFileAccess: true, disableUrlAccess: true })
  const domain = mailFrom.slice(mailFrom.lastIndexOf('@') + 1)
  return async ({ id }, { to, subject, text, html, attachments }) => {
    try {
      await transport.sendMail({
        from: mailFrom,
        // As an object: an address is never parsed for further ones.
        to: { name: to.name, address: checkAddress(to.address) },
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        ...{ subject, text, html },
        attachments: attachments.map(({ name, type, content, inlineId }) => ({
          ...{ filename: name, contentType: type, content },
          ...(inlineId === null ? {} : { cid: inlineId, contentDisposition: 'inline' as const }),
        })),
        signal: AbortSignal.timeout(sendWithinMs),
      })
    } catch (error) {
      const said = withoutAddress(error, to.address)
      throw isForGood(error as SmtpError) ? new MailRefused(said) : new Error(said)
    }
  }
}

/** What the door lets through is looser than what can be delivered to; a mail server's opinion on the rest is final. */
export function checkAddress(address: string): string {
  const at = address.lastIndexOf('@')
  const [local, host] = [address.slice(0, at), address.slice(at + 1)]
  const sound = at > 0 && local.length <= 64 && address.length <= 254 && !/[\s\p{C}<>()[\]\\,;:"@]/u.test(local)
  const labels = domainToLabels(host)
  if (sound && labels.length > 1 && labels.every((label) => /^(?!-)[\p{L}\p{M}\p{N}-]{1,63}(?<!-)$/u.test(label)))
    return address
  throw new MailRefused('the address is none')
}

function domainToLabels(host: string): string[] {
  return host.length > 0 && host.length <= 253 ? host.split('.') : []
}

function isForGood(error: SmtpError): boolean {
  if (error instanceof MailRefused) return true
  const refused = (error.responseCode ?? 0) >= 500
  return refused && ((error.code === 'EENVELOPE' && error.command === 'RCPT TO') || error.code === 'EMESSAGE')
}

// Servers quote whom they refuse; a person's address belongs into one place of the database, and into no log.
function withoutAddress(error: unknown, address: string): string {
  const said = error instanceof Error ? error.message : String(error)
  return said.replaceAll(address, '<address>').slice(0, 500)
}
