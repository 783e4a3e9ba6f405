// Reads server-sent events as a browser does, with the parts of it that tests want to see.
import { type IncomingMessage, request } from 'node:http'

export type StreamEvent = { id: string; event: string; data: unknown }

export type EventStream = {
  status: number
  headers: IncomingMessage['headers']
  /** All so far, in order. */
  events: StreamEvent[]
  /** Everything received so far as text. */
  text(): string
  /** Resolves when there are so many; rejects when the stream ends before or it takes too long. */
  until(count: number, patienceMs?: number): Promise<StreamEvent[]>
  ended: Promise<void>
  over(): boolean
  close(): void
}

export function openEventStream(url: string, headers: Record<string, string> = {}): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false }, (answer) => {
      const events: StreamEvent[] = []
      let text = ''
      let rest = ''
      let over = false
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        text += chunk
        const blocks = (rest + chunk).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
          const data = field('data')
          if (data) events.push({ id: field('id') ?? '', event: field('event') ?? '', data: JSON.parse(data) })
        }
      })
      const ended = new Promise<void>((end) => {
        answer.once('close', () => {
          over = true
          end()
        })
      })
      answer.on('error', () => {})
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        events,
        text: () => text,
        ended,
        over: () => over,
        close: () => asked.destroy(),
        async until(count, patienceMs = 10_000) {
          for (const deadlineMs = performance.now() + patienceMs; events.length < count; await pause()) {
            if (over || performance.now() > deadlineMs)
              throw new Error(`${events.length} of ${count} events came: ${JSON.stringify(events)}`)
          }
          return events
        },
      })
    })
    asked.on('error', reject)
    asked.end()
  })
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}
