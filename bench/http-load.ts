// The load side of the HTTP benchmarks: keep-alive connections, one request on each at a time, raw sockets so that the client costs as little as it can.
import { connect, type Socket } from 'node:net'

/** A POST of its body; a GET when that is null. */
export type Shot = { path: string; token: string; body: string | null; headers?: Record<string, string> }
export type Volley = { byStatus: Map<number, number>; elapsedMs: number }

/** Sends every shot once over `connections` sockets; answers how many answers of each status came, and how long it took. */
export async function fire(port: number, connections: number, shots: Shot[]): Promise<Volley> {
  const byStatus = new Map<number, number>()
  let next = 0
  const startMs = performance.now()
  await Promise.all(
    Array.from({ length: Math.min(connections, shots.length) }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      const answers = readAnswers(socket)
      for (let shot = shots[next++]; shot; shot = shots[next++]) {
        socket.write(requestText(port, shot))
        const status = await answers()
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
      }
      socket.destroy()
    }),
  )
  return { byStatus, elapsedMs: performance.now() - startMs }
}

function requestText(port: number, { path, token, body, headers = {} }: Shot): string {
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n${more.join('')}`
  if (body === null) return `GET ${head}\r\n`
  return `POST ${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

const STATUS_AT = 'HTTP/1.1 '.length

/** Answers come one at a time, with Content-Length; a connection that ends in between is a failed benchmark. */
function readAnswers(socket: Socket): () => Promise<number> {
  let buffered: Buffer = Buffer.alloc(0)
  let waiting: { resolve: (status: number) => void; reject: (reason: Error) => void } | null = null
  const tryRead = () => {
    const headEnd = buffered.indexOf('\r\n\r\n')
    if (headEnd < 0 || !waiting) return
    const head = buffered.toString('latin1', 0, headEnd)
    // A 304 may say how long the body would be; it has none.
    const empty = head.startsWith('304', STATUS_AT)
    const length = empty ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (buffered.length < headEnd + 4 + length) return
    buffered = buffered.subarray(headEnd + 4 + length)
    const { resolve } = waiting
    waiting = null
    resolve(Number(head.slice(STATUS_AT, STATUS_AT + 3)))
  }
  socket.on('data', (chunk: Buffer) => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
    tryRead()
  })
  const fail = (reason: Error) => waiting?.reject(reason)
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  return () =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject }
      tryRead()
    })
}
