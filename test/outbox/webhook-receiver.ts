// A partner's server: keeps what it is sent, answers what it is told to, and verifies signatures by an implementation of its own.
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export type Received = {
  headers: IncomingHttpHeaders
  text: string
  body: { type: string; sequence?: number; bookingId?: string }
}

export async function startReceiver(t: Pick<TestContext, 'after'>, answer: (received: Received) => number = () => 204) {
  const received: Received[] = []
  const server = createServer((request, reply) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString()
      const one = { headers: request.headers, text, body: JSON.parse(text) as Received['body'] }
      received.push(one)
      const status = answer(one)
      if (status > 0) reply.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

/** Written from the Standard Webhooks text: base64(hmac-sha256(secret, "id.timestamp.body")), any of several signatures, at most five minutes old. */
export function isSignedWith(secret: string, { headers, text }: Received, nowSeconds: number): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const id = String(headers['webhook-id'])
  const timestamp = String(headers['webhook-timestamp'])
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')
  const signatures = String(headers['webhook-signature']).split(' ')
  return signatures.includes(`v1,${expected}`) && Math.abs(nowSeconds - Number(timestamp)) <= 300
}
