// What every request gets before and after its route: an id, constant security headers, limits of time, a measurement and a line in the log.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from './http.ts'
import type { Metrics } from './metrics.ts'
import { Problem } from './problem.ts'

/** Fastify and Node set none of the first three by themselves: a slow client could keep its connection for ever. */
export const SERVER_TIMEOUTS = {
  requestTimeout: 15_000,
  /** Silence on a connection; longer than the heartbeat of a stream. */
  connectionTimeout: 60_000,
  // No handlerTimeout: its timer and abort controller cost each request 22 of 250 us, and nothing here waits without a bound of its own (locks,
  // statements and providers have their limits, lanes their lengths).
  keepAliveTimeout: 72_000,
  // Node looks for the two above only every 30 s unless told otherwise.
  http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000, maxHeaderSize: 16_384 },
  forceCloseConnections: 'idle',
} as const

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/
// A slower answer is worth a line even where each request is not.
const SLOW_MS = 1_000
const HSTS = 'max-age=31536000'

/** A proxy's id goes on through our log; anything that could not have been meant as one is replaced. */
export function chooseRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID()
}

/** One logger for all requests, which name their id in each line: a child logger a request cost 11 us, whether it wrote anything or not. */
export function oneLogger<Logger>(logger: Logger): Logger {
  return logger
}

export function observeRequests(app: App, metrics: Metrics, config: { publicUrl: string }): void {
  // One constant object: setting it costs 12 % of the fastest route, a security plugin 58 %. Pages and maps replace the two they need otherwise.
  const headers = {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    // Not no-referrer: a browser would then send `Origin: null` with our own forms.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
    ...(config.publicUrl.startsWith('https:') ? { 'strict-transport-security': HSTS } : {}),
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id)
    done()
  })

  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? '(none)'
    const { method } = request
    const { statusCode, elapsedTime } = reply
    metrics.httpSeconds.observe({ method, route, status: statusCode }, elapsedTime / 1000)
    // The route, not the address: addresses carry ids. At info each request would cost a quarter of the throughput.
    const line = { reqId: request.id, method, route, status: statusCode, ms: Math.round(elapsedTime * 10) / 10 }
    if (elapsedTime >= SLOW_MS) request.log.info(line, 'slow answer')
    else request.log.debug(line, 'answered')
    done()
  })
}

/** Bytes that are no HTTP at all: a problem document by hand, and the connection is closed. */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, detail] = BROKEN_HTTP[error.code ?? ''] ?? ['400 Bad Request', 'This is not readable as HTTP.']
  const problem = new Problem('MALFORMED_HTTP', { detail }).toDocument(randomUUID())
  const body = JSON.stringify({ ...problem, status: Number.parseInt(status, 10) })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const BROKEN_HTTP: Record<string, [status: string, detail: string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
}
