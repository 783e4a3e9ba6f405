// What `holdfast start` prints when it is up: where, the key made for it, and lines to paste that really work, with a real showtime.
import type { Config } from '#config.ts'
import { curlLines, findTryable } from './front-page.ts'
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
