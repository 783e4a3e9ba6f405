// How the crowd speaks with the system: HTTP over a bounded number of kept connections. Each answer is counted and timed.
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Refusal } from './contract.ts'
import { count, type Kind, noteAnswer, type Tally } from './tally.ts'

export type Reply = {
  /** 0: there was no answer. */
  status: number
  /** The problem's code; null for what is none. */
  code: string | null
  etag: string | null
  /** When it was asked and when it was answered, on the monotonic clock that all processes of a machine share. */
  sentMs: number
  gotMs: number
  /** The body; throws when it is no JSON. */
  read<T>(): T
}

export type Question = { method?: 'GET' | 'POST' | 'PUT' | 'DELETE'; body?: unknown; headers?: Record<string, string> }

export type Wire = {
  /** `path` from the root of the system. Never throws: no answer is status 0. */
  ask(kind: Kind, path: string, question?: Question): Promise<Reply>
  close(): void
}

// As patient as a browser's user; the server itself gives up earlier.
const ANSWER_MAX_MS = 30_000

/** Milliseconds on the clock of the machine: the same in every process, and nobody sets it back. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Who finds all connections busy waits, and that wait is part of the time measured: a buyer would have felt it. */
export function openWire(url: string, connections: number, tally: () => Tally, openingMs: number): Wire {
  const base = new URL(url)
  const secure = base.protocol === 'https:'
  const agent = new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
  const send = secure ? httpsRequest : httpRequest
  const prefix = base.pathname.replace(/\/$/, '')

  function ask(kind: Kind, path: string, { method = 'GET', body, headers = {} }: Question = {}): Promise<Reply> {
    const sentMs = monotonicMs()
    const text = body === undefined ? null : JSON.stringify(body)
    return new Promise((resolve) => {
      const request = send(
        {
          ...{ agent, method, path: prefix + path, hostname: base.hostname, port: base.port, timeout: ANSWER_MAX_MS },
          headers:
            text === null
              ? headers
              : { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
        },
        (message) => {
          const parts: Buffer[] = []
          message.on('data', (part: Buffer) => parts.push(part))
          message.on('error', unanswered)
          message.on('end', () => {
            const reply = replyOf(message.statusCode ?? 0, Buffer.concat(parts), message.headers.etag ?? null, sentMs)
            noteAnswer(
              tally(),
              kind,
              { ...reply, ms: reply.gotMs - sentMs },
              Math.max(0, Math.floor((reply.gotMs - openingMs) / 1000)),
            )
            resolve(reply)
          })
        },
      )
      function unanswered(): void {
        count(tally().counts, 'unanswered')
        resolve(replyOf(0, Buffer.alloc(0), null, sentMs))
      }
      request.on('timeout', () => request.destroy(new Error('no answer in time')))
      request.once('error', unanswered)
      request.end(text)
    })
  }

  return { ask, close: () => agent.destroy() }
}

function replyOf(status: number, body: Buffer, etag: string | null, sentMs: number): Reply {
  const read = <T>() => JSON.parse(body.toString()) as T
  const code = status >= 400 ? codeOf(read) : null
  return { status, code, etag, sentMs, gotMs: monotonicMs(), read }
}

// A proxy in between may answer a page of its own.
function codeOf(read: <T>() => T): string | null {
  try {
    return read<Refusal>().code ?? null
  } catch {
    return null
  }
}
