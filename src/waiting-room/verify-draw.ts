// holdfast queue verify FILE|URL: works a published draw out again, with nothing but what was published.
import { readFileSync } from 'node:fs'
import { StartRefused } from '#database/start-refused.ts'
import { type Draw, faultOfDraw } from './draw.ts'

const FETCH_TIMEOUT_MS = 30_000

/** Answers a sentence. Throws StartRefused when the draw cannot be read, or is not what its seed gives. */
export async function verifyDraw(source: string): Promise<string> {
  const draw = readDocument(await readSource(source), source)
  const fault = faultOfDraw(draw)
  if (fault) throw new StartRefused(`This draw is not right. ${fault}`)
  return `The seed is the one whose hash was published (${draw.seedHash}), and the order of ${draw.order.length} visitors is the one it gives.`
}

async function readSource(source: string): Promise<string> {
  if (!/^https?:\/\//.test(source)) {
    try {
      return readFileSync(source, 'utf8')
    } catch (error) {
      throw new StartRefused(`${source} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  const reply = await fetch(source, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) }).catch((error: Error) => {
    throw new StartRefused(`${source} does not answer (${error.message}).`)
  })
  if (!reply.ok) throw new StartRefused(`${source} answers ${reply.status}: ${(await reply.text()).slice(0, 300)}`)
  return reply.text()
}

function readDocument(text: string, source: string): Draw {
  try {
    const { seedHash, seed, order } = JSON.parse(text) as Record<string, unknown>
    const texts = Array.isArray(order) && order.every((visitor) => typeof visitor === 'string')
    if (typeof seedHash === 'string' && typeof seed === 'string' && texts) return { seedHash, seed, order }
  } catch {
    // Said below: what is no JSON is no draw either.
  }
  throw new StartRefused(`${source} is no published draw: it needs seedHash, seed and order.`)
}
