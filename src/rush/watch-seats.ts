// Somebody who only watches: the live stream of the seats stays open for the evening, its changes are counted, and their order is checked.
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type Buyer, tell } from './stage.ts'

type Message = { version?: number; changes?: unknown[] }

/** Answers the function that closes the window. A system without the stream, or with none to spare, is watched by nobody. */
export function watchSeats(buyer: Buyer, address: string): () => void {
  const target = new URL(`${buyer.stage.url}${buyer.stage.show}/seats/stream`)
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest
  const headers = { accept: 'text/event-stream', 'x-forwarded-for': address }
  let version = 0
  let unread = ''
  let watching = false
  // Of its own, beside the kept connections: it would take one of them for the whole evening.
  const request = send(target, { agent: false, headers }, (reply) => {
    if (reply.statusCode !== 200) return void reply.resume()
    watching = true
    tell(buyer, 'watchers')
    reply.setEncoding('utf8')
    reply.on('data', (text: string) => {
      const messages = (unread + text).split('\n\n')
      unread = messages.pop() ?? ''
      for (const message of messages) read(message)
    })
    reply.on('close', leave)
    reply.on('error', leave)
  })
  request.on('error', leave)
  request.end()
  return () => request.destroy()

  function read(text: string): void {
    const data = /^data: ?(.*)$/m.exec(text)?.[1]
    if (data === undefined) return
    const message = JSON.parse(data) as Message
    tell(buyer, 'changesSeen', message.changes?.length ?? 0)
    if ((message.version ?? version) < version) tell(buyer, 'changesOutOfOrder')
    version = message.version ?? version
  }

  function leave(): void {
    if (watching) tell(buyer, 'watchers', -1)
    watching = false
  }
}
