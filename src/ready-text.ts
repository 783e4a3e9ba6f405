// What `holdfast start` prints when it is up: where, the key made for it, and lines to paste that really work, with a real showtime.
import type { Config } from '#config.ts'
import { findTryable } from './front-page.ts'
import type { Holdfast } from './main.ts'

export async function readyText({ app, url, newAdminKey }: Holdfast, config: Config): Promise<string> {
  const [showtime] = await findTryable(app)
  const lines = [
    `Holdfast is ready at ${url}`,
    ...(config.publicUrl === url ? [] : [`  for buyers    ${config.publicUrl}`]),
    `  API page      ${url}/docs`,
    ...(newAdminKey ? [`  admin key     ${newAdminKey}   (shown only this once)`] : []),
    '',
    ...(showtime ? ['Try it:', ...curlLines(String(url), showtime.id).map((line) => `  ${line}`), ''] : []),
    `Ctrl-C stops it${config.databaseUrl ? '' : `; the data stays in ${config.holdfastData}`}.`,
  ]
  return lines.join('\n')
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
