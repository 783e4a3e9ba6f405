// Lays a mail out twice from the same words: as plain text, and as HTML for those who want to see the codes.
import { escapeHtml } from '#core/page.ts'
import type { MailText, Texts } from './texts.ts'

export type MailContent = {
  text: MailText
  name: string | null
  /** Label and value, in their order. */
  facts: [string, string][]
  link: string | null
  qrs: { inlineId: string; place: string }[]
}

const CELL = 'padding:4px 16px 4px 0;vertical-align:top;text-align:left'
const BODY = 'margin:0;padding:24px;font:16px/1.5 system-ui,Arial,sans-serif;color:#1c1b1a;background:#fff'

export function layOutText(texts: Texts, { text, name, facts, link }: MailContent): string {
  const lines = [
    texts.hello(name),
    ...text.paragraphs,
    facts.map(([label, value]) => `${label}: ${value}`).join('\n'),
    ...(link ? [`${texts.link}: ${link}`] : []),
    `--\n${texts.footer}`,
  ]
  return `${lines.join('\n\n')}\n`
}

/** Every value is escaped here, at the last moment: none can become markup, whoever wrote it (SD5, B080). */
export function layOutHtml(texts: Texts, { text, name, facts, link, qrs }: MailContent): string {
  const paragraph = (sentence: string) => `<p>${escapeHtml(sentence)}</p>`
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th scope="row" style="${CELL};font-weight:normal;color:#6a655f">${escapeHtml(label)}</th><td style="${CELL}">${escapeHtml(value)}</td></tr>`,
  )
  const codes = qrs.map(
    ({ inlineId, place }) =>
      `<p><img src="cid:${inlineId}" width="220" height="220" alt="${escapeHtml(texts.qr(place))}"><br>${escapeHtml(place)}</p>`,
  )
  return `<!doctype html>
<html lang="${texts.language}"><head><meta charset="utf-8"><title>${escapeHtml(text.subject)}</title></head>
<body style="${BODY}">
${[texts.hello(name), ...text.paragraphs].map(paragraph).join('\n')}
<table style="border-collapse:collapse">${rows.join('')}</table>
${link ? `<p><a href="${escapeHtml(link)}">${escapeHtml(texts.link)}</a></p>` : ''}
${codes.join('\n')}
<p style="color:#6a655f;font-size:13px">${escapeHtml(texts.footer)}</p>
</body></html>
`
}
