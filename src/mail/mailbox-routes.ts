// The pages of the mailbox: what would have been mailed, for whoever tries Holdfast without a mail server. They do not exist anywhere else.
import Type from 'typebox'
import { type App, IdParam, problems } from '#core/http.ts'
import { formatSharded, parseSharded } from '#core/ids.ts'
import { escapeHtml, sendPage } from '#core/page.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { findInMailbox, type KeptMail, listMailbox } from './mailbox.ts'

const tags = ['Operations']
const page = { 200: { description: 'HTML', content: { 'text/html': { schema: Type.String() } } } }
// A mail brings styles and pictures of its own, and may do nothing else.
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; sandbox"

export function mailboxRoutes(app: App, sql: Sql): void {
  app.get(
    '/mailbox',
    { schema: { operationId: 'getMailbox', summary: 'Mails of this development server', tags, response: page } },
    async (_request, reply) => sendPage(reply, 200, { title: 'Mailbox', body: listBody(await listMailbox(sql)) }),
  )

  app.get(
    '/mailbox/:id',
    {
      schema: {
        operationId: 'getMailboxMail',
        summary: 'A mail as text',
        tags,
        params: IdParam,
        response: { ...page, ...problems('NOT_FOUND') },
      },
    },
    async (request, reply) => {
      const mail = await find(request.params.id)
      return sendPage(reply, 200, { title: mail.subject, body: mailBody(mail) })
    },
  )

  app.get(
    '/mailbox/:id/html',
    {
      schema: {
        operationId: 'getMailboxHtml',
        summary: 'A mail as its reader sees it',
        tags,
        params: IdParam,
        response: { ...page, ...problems('NOT_FOUND') },
      },
    },
    async (request, reply) => {
      const { bodyHtml } = await find(request.params.id)
      return reply
        .header('content-security-policy', MAIL_POLICY)
        .type('text/html; charset=utf-8')
        .serializer(String)
        .send(bodyHtml)
    },
  )

  async function find(publicId: string): Promise<KeptMail> {
    const { inventoryId, uuid } = parseSharded('mail', publicId)
    const mail = await findInMailbox(sql, inventoryId, uuid)
    if (!mail) throw new Problem('NOT_FOUND')
    return mail
  }
}

function listBody(mails: KeptMail[]): string {
  const rows = mails.map(
    (mail) =>
      `<tr><td>${escapeHtml(mail.recipient)}</td><td><a href="/mailbox/${idOf(mail)}">${escapeHtml(mail.subject)}</a></td><td>${escapeHtml(mail.endedAt.slice(0, 19).replace('T', ' '))} UTC</td></tr>`,
  )
  const table = `<table><thead><tr><th scope="col">To</th><th scope="col">Subject</th><th scope="col">When</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`
  return `<h1>Mailbox</h1>
<p>No mail server is configured, so nothing is sent: mails of this development server end here.</p>
${mails.length > 0 ? table : '<p class="soft">Nothing yet. Book a seat with an e-mail address.</p>'}`
}

function mailBody(mail: KeptMail): string {
  return `<p><a href="/mailbox">Mailbox</a></p>
<h1>${escapeHtml(mail.subject)}</h1>
<p>To ${escapeHtml(mail.recipient)} · <a href="/mailbox/${idOf(mail)}/html">as its reader sees it</a></p>
<pre tabindex="0">${escapeHtml(mail.bodyText)}</pre>`
}

function idOf({ inventoryId, id }: KeptMail): string {
  return formatSharded('mail', inventoryId, id)
}
