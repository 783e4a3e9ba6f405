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
  /** What was said beside it; empty for what is no problem document. */
  refusal: Refusal
  etag: string | null
  /** When it was asked and when it was answered, on the monotonic clock that all processes of a machine share. */
  sentMs: number
  gotMs: number
  /** The body; throws when it is no JSON. */
  read<T>(): T
}

export type Question = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  patienceMs?: number
}

export type Wire = {
  /** `path` from the root of the system. Never throws: no answer is status 0. */
  ask(kind: Kind, path: string, question?: Question): Promise<Reply>
  /** Who still waits for a connection is sent away, uncounted; whoever asks from now on is served as ever. */
  dismiss(): void
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

  // Our own line before the connections, for the agent's own cannot be emptied.
  const waiting: { go: (served: boolean) => void }[] = []
  let free = connections

  async function ask(kind: Kind, path: string, question: Question = {}): Promise<Reply> {
    const sentMs = monotonicMs()
    if (!(await turn())) return replyOf(0, Buffer.alloc(0), null, sentMs)
    const reply = await exchange(path, question, sentMs)
    leave()
    if (reply.status === 0) count(tally().counts, 'unanswered')
    else
      noteAnswer(
        tally(),
        kind,
        { ...reply, ms: reply.gotMs - sentMs },
        Math.max(0, Math.floor((reply.gotMs - openingMs) / 1000)),
      )
    return reply
  }

  function turn(): Promise<boolean> | boolean {
    if (free === 0) return new Promise((resolve) => waiting.push({ go: resolve }))
    free--
    return true
  }

  function leave(): void {
    const next = waiting.shift()
    if (next) next.go(true)
    else free++
  }

  function exchange(path: string, question: Question, sentMs: number): Promise<Reply> {
    const { method = 'GET', body, headers = {}, patienceMs = ANSWER_MAX_MS } = question
    const text = body === undefined ? null : JSON.stringify(body)
    const ofBody =
      text === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const { hostname, port } = base
    return new Promise((resolve) => {
      const unanswered = () => resolve(replyOf(0, Buffer.alloc(0), null, sentMs))
      const where = { agent, method, hostname, port, path: prefix + path, timeout: patienceMs }
      const request = send({ ...where, headers: { ...headers, ...ofBody } }, (message) => {
        const parts: Buffer[] = []
        message.on('data', (part: Buffer) => parts.push(part))
        message.on('error', unanswered)
        message.on('end', () =>
          resolve(replyOf(message.statusCode ?? 0, Buffer.concat(parts), message.headers.etag ?? null, sentMs)),
        )
      })
      request.on('timeout', () => request.destroy(new Error('no answer in time')))
      request.once('error', unanswered)
      request.end(text)
    })
  }

  function dismiss(): void {
    for (const { go } of waiting.splice(0)) go(false)
  }

  return { ask, dismiss, close: () => agent.destroy() }
}

function replyOf(status: number, body: Buffer, etag: string | null, sentMs: number): Reply {
  const read = <T>() => JSON.parse(body.toString()) as T
  const refusal = status >= 400 ? readRefusal(read) : {}
  return { status, code: refusal.code ?? null, refusal, etag, sentMs, gotMs: monotonicMs(), read }
}

// A proxy in between may answer a page of its own.
function readRefusal(read: <T>() => T): Refusal {
  try {
    return read<Refusal>()
  } catch {
    return {}
  }
}
