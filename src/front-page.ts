// The page at `/`: what runs here and what to try. Plain on purpose; the buyer's pages are a room of their own.
import Type from 'typebox'
import type { App } from '#core/http.ts'
import { escapeHtml, sendPage } from '#core/page.ts'

export type Tryable = { id: string; title: string; place: string; startsLocal: string }

const SHOWN = 6

export function frontPage(app: App, config: { publicUrl: string }): void {
  app.get(
    '/',
    {
      schema: {
        operationId: 'getFrontPage',
        summary: 'A page for people: what runs here, what to try',
        tags: ['Operations'],
        response: { 200: { description: 'HTML', content: { 'text/html': { schema: Type.String() } } } },
      },
    },
    async (_request, reply) =>
      sendPage(reply, 200, { title: 'Holdfast', body: pageBody(await findTryable(app), config.publicUrl) }),
  )
}

/** The next showtimes, read through the same door as everybody reads them; none where nothing is on. */
export async function findTryable(app: App): Promise<Tryable[]> {
  const reply = await app.inject({ url: `/v1/showtimes?limit=${SHOWN}` })
  if (reply.statusCode !== 200) return []
  const { items } = reply.json<{ items: Record<string, unknown>[] }>()
  return items.map((item) => ({
    id: String(item.id),
    title: nameOf(item.movie, 'title'),
    place: [nameOf(item.cinema, 'name'), nameOf(item.screen, 'name')].filter(Boolean).join(', '),
    startsLocal: String(item.startsLocal ?? item.startsAt ?? ''),
  }))
}

function nameOf(value: unknown, field: string): string {
  return value !== null && typeof value === 'object' ? String((value as Record<string, unknown>)[field] ?? '') : ''
}

function pageBody(showtimes: Tryable[], publicUrl: string): string {
  const [first] = showtimes
  return `<h1>Holdfast is running</h1>
<p>It holds a seat for one buyer while they pay, sells it to nobody else, and puts it back on sale the instant the hold runs out.</p>
<ul>
<li><a href="/docs">The API, to read and to try</a></li>
<li><a href="/v1/openapi.json">Its OpenAPI description</a></li>
<li><a href="/readyz">Is it ready?</a> · <a href="/metrics">Its numbers</a></li>
</ul>
${first ? `<h2>On sale next</h2>\n${showtimeTable(showtimes)}\n<h2>Try it in a shell</h2>\n<pre tabindex="0">${escapeHtml(curlLines(publicUrl, first.id).join('\n'))}</pre>` : '<p class="soft">Nothing is on sale yet. An admin key can add cinemas, screens and showtimes.</p>'}`
}

function showtimeTable(showtimes: Tryable[]): string {
  const rows = showtimes.map(
    ({ id, title, place, startsLocal }) =>
      `<tr><td>${escapeHtml(title)}</td><td>${escapeHtml(place)}</td><td>${escapeHtml(startsLocal.replace('T', ' '))}</td><td><a href="/v1/showtimes/${escapeHtml(id)}/seats">${escapeHtml(id)}</a></td></tr>`,
  )
  return `<table><thead><tr><th scope="col">Film</th><th scope="col">Where</th><th scope="col">Local time</th><th scope="col">Seats</th></tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table>`
}

/** From browsing to a hold, in a shell. */
export function curlLines(url: string, showtimeId: string): string[] {
  return [
    `curl -s '${url}/v1/showtimes?limit=3'`,
    `curl -s '${url}/v1/showtimes/${showtimeId}/seats?view=status'`,
    `TOKEN=$(curl -s -X POST ${url}/v1/sessions | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    `curl -s ${url}/v1/showtimes/${showtimeId}/holds -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"bestAvailable":{"quantity":2}}'`,
  ]
}
