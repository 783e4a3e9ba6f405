// The mailbox of a development server: mails are kept where the page /mailbox shows them, instead of being sent.
import type { Sql, Tx } from '#database/connect.ts'
import type { Attachment, Carrier, MailKind } from './mail.ts'

export type KeptMail = {
  inventoryId: number
  id: string
  kind: MailKind
  recipient: string
  subject: string
  bodyText: string
  bodyHtml: string
  endedAt: string
}
const SHOWN_MAX = 100

/** Pictures move into the HTML, where a browser shows them; of files the text says that they were there. */
export function mailboxCarrier(sql: Sql): Carrier {
  return async ({ inventoryId, id }, { to, subject, text, html, attachments }) => {
    const files = attachments.filter(({ inlineId }) => inlineId === null)
    const listed = files.map(({ name, content }) => `Attached: ${name}, ${content.length} bytes\n`).join('')
    const shown = attachments.reduce(withPicture, html)
    await sql`
      update mails set recipient = ${to.name ? `${to.name} <${to.address}>` : to.address}, subject = ${subject},
        body_text = ${`${text}${listed ? `\n${listed}` : ''}`}, body_html = ${shown}
      where inventory_id = ${inventoryId} and id = ${id}`
  }
}

/** Newest first. */
export async function listMailbox(tx: Tx): Promise<KeptMail[]> {
  return tx<KeptMail[]>`
    select inventory_id, id, kind, recipient, subject, body_text, body_html, ended_at from mails
    where body_text is not null and ended_at is not null order by ended_at desc, id limit ${SHOWN_MAX}`
}

export async function findInMailbox(tx: Tx, inventoryId: number, id: string): Promise<KeptMail | null> {
  const [mail] = await tx<KeptMail[]>`
    select inventory_id, id, kind, recipient, subject, body_text, body_html, ended_at from mails
    where inventory_id = ${inventoryId} and id = ${id} and body_text is not null and ended_at is not null`
  return mail ?? null
}

function withPicture(html: string, { inlineId, type, content }: Attachment): string {
  return inlineId === null
    ? html
    : html.replaceAll(`cid:${inlineId}`, `data:${type};base64,${content.toString('base64')}`)
}
