// A mail on its way to a buyer, as the verbs of this room hand it on, and who carries it in this installation.
import type { Money } from '#core/money.ts'

export type MailKind =
  | 'CONFIRMATION'
  | 'CANCELLATION'
  | 'PART_CANCELLATION'
  | 'REFUND'
  | 'NOT_BOOKED'
  | 'PAYMENT_FAILED'
  | 'REMINDER'

/** What the event said that the booking itself does not. */
export type EventFacts = { money?: Money; seats?: string[] }

export type DueMail = {
  inventoryId: number
  id: string
  bookingId: string
  kind: MailKind
  facts: EventFacts
  /** This one included. */
  attempts: number
}

export type Attachment = {
  name: string
  type: string
  content: Buffer
  /** Shown inside the HTML as `cid:` this; null for a file beside the text. */
  inlineId: string | null
}

export type ComposedMail = {
  to: { name: string; address: string }
  subject: string
  text: string
  html: string
  attachments: Attachment[]
}

/** Hands a mail over; throws MailRefused when this mail will never be taken, anything else when it may be later. */
export type Carrier = (mail: DueMail, composed: ComposedMail) => Promise<void>

/** For good: trying again changes nothing. */
export class MailRefused extends Error {
  override name = 'MailRefused'
}

export type MailConfig = {
  smtpUrl: string
  mailFrom: string
  mailLink: string
  reminderBeforeMs: number
  holdfastMode: 'development' | 'production'
}

/** Without a mail server: a page in development, and nothing in production, where a heap of mails would go out the day somebody sets SMTP_URL. */
export function carriedBy({ smtpUrl, holdfastMode }: MailConfig): 'SMTP' | 'MAILBOX' | 'NOBODY' {
  if (smtpUrl) return 'SMTP'
  return holdfastMode === 'development' ? 'MAILBOX' : 'NOBODY'
}
