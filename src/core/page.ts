// The plain pages Holdfast serves itself (front page, sandbox payment): one style, light and dark, no script, closed by a Content-Security-Policy.
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

const STYLE = `
:root { color-scheme: light dark; --ink: #1c1b1a; --paper: #faf8f5; --soft: #6a655f; --line: #d9d4cc; --mark: #8a2c12; }
@media (prefers-color-scheme: dark) { :root { --ink: #efebe4; --paper: #191817; --soft: #b0a99f; --line: #3b3835; --mark: #ffab8f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1rem 4rem; font: 1rem/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.15rem; margin-top: 2rem; }
a { color: var(--mark); } a:focus-visible, button:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
pre { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .4rem; overflow-x: auto; font-size: .88rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid var(--line); }
dt { color: var(--soft); } dd { margin: 0 0 .6rem; font-size: 1.1rem; }
form { display: inline-block; margin: .5rem .5rem .5rem 0; }
button { font: inherit; padding: .6rem 1.2rem; min-height: 44px; border-radius: .4rem; border: 1px solid var(--mark); background: transparent; color: var(--mark); cursor: pointer; }
button.main { background: var(--mark); color: var(--paper); }
.soft { color: var(--soft); }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

/** `body` is HTML: whatever comes from outside goes through `escapeHtml` first. */
export function sendPage(reply: FastifyReply, status: number, page: { title: string; body: string }): FastifyReply {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)}</title><style>${STYLE}</style></head>
<body><main>
${page.body}
</main></body></html>
`
  return reply
    .code(status)
    .header('content-security-policy', POLICY)
    .type('text/html; charset=utf-8')
    .serializer((text: unknown) => String(text))
    .send(html)
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark)
}
