// Sends one message to an address somebody else chose: only to the public internet, checked again at every connection, and with a limit on everything.
import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { isPublicAddress, type Reach, readTarget, resolveTarget } from './public-address.ts'

/** Reaching, writing and reading the answer together. */
export const POST_MS = 10_000
// Nobody reads what a receiver answers, so that our server cannot be used to look at pages inside a network; this much is let through before the line is cut.
const ANSWER_MAX_BYTES = 65_536

export type Message = { headers: Record<string, string>; body: Buffer }

/** Answers the status; follows no redirect. Throws what kept it from getting one: WEBHOOK_URL_REFUSED, ECONNREFUSED, ABORT_ERR after 10 s ... */
export async function postMessage(target: string, { headers, body }: Message, reach: Reach): Promise<number> {
  const url = readTarget(target, reach)
  // The name is resolved here and nowhere else: what was checked is what is connected to, whatever the name says a moment later.
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolveTarget(hostname, reach).then(
      (found) => {
        const [first] = found
        if (options.all) callback(null, found)
        else if (first) callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, ''),
    )
  }
  const secure = url.protocol === 'https:'
  // A connection of its own: one that was kept could lead to what the name meant an hour ago.
  const agent = secure ? new HttpsAgent({ lookup }) : new HttpAgent({ lookup })
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = (secure ? requestHttps : requestHttp)(url, {
    method: 'POST',
    agent,
    lookup,
    headers: { ...headers, 'content-length': body.length },
    signal: AbortSignal.timeout(POST_MS),
  })
  request.once('error', reject)
  request.once('socket', (socket) => refusePrivatePeer(socket, reach))
  request.once('response', (answer) => {
    const status = answer.statusCode ?? 0
    let left = ANSWER_MAX_BYTES
    answer.on('data', (part: Buffer) => {
      left -= part.length
      if (left < 0) answer.destroy()
    })
    answer.once('close', () => resolve(status))
    answer.once('error', () => resolve(status))
  })
  request.end(body)
  return promise.finally(() => agent.destroy())
}

// The last word has the connection itself: nothing is written before it is there.
function refusePrivatePeer(socket: Socket, { allowPrivate }: Reach): void {
  if (allowPrivate) return
  socket.once('connect', () => {
    const { remoteAddress = '' } = socket
    if (!isPublicAddress(remoteAddress)) socket.destroy(new Error(`connected to ${remoteAddress}, which is not public`))
  })
}
