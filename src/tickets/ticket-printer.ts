// Makes PDFs beside the event loop: one thread draws, one booking after the other, so that a hundred people who ask at once hold up nobody's hold.
// What was drawn is kept under the hash of all it says: asking again costs nothing, and a change of the booking is another document by itself.
import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { Problem } from '#core/problem.ts'
import type { TicketSheet } from './ticket-sheet.ts'

export type TicketPrinter = {
  /** Throws OVERLOADED when too many wait, and what the drawing threw (RangeError on a zone or currency there is not). */
  print(sheet: TicketSheet): Promise<Buffer>
  /** Refuses what still waits, and ends the thread. */
  close(): Promise<void>
}
export type Drawn = { pdf: Uint8Array } | { error: string }

type Job = { sheet: TicketSheet; resolve: (pdf: Buffer) => void; reject: (error: Error) => void }

// At a tenth of a second each the last of them waits about 20 s, which is what a browser and a person bear.
const WAITING_MAX = 200
const RETRY_AFTER_S = 10
const KEPT_MAX_BYTES = 32 * 1024 * 1024
// Drawing eight tickets takes half a second; a thread that takes this long hangs, and is replaced.
const DRAW_WITHIN_MS = 15_000
const THREAD = new URL('./print-thread.ts', import.meta.url)

export function createTicketPrinter({ thread = THREAD, drawWithinMs = DRAW_WITHIN_MS } = {}): TicketPrinter {
  const kept = new LRUCache<string, Buffer>({ maxSize: KEPT_MAX_BYTES, sizeCalculation: (pdf) => pdf.length })
  const printing = new Map<string, Promise<Buffer>>()
  const waiting: Job[] = []
  let worker: Worker | null = null
  let busy = false
  let closed = false

  function next(): void {
    const job = busy ? undefined : waiting.shift()
    if (!job) return
    busy = true
    draw(job.sheet)
      .then(job.resolve, job.reject)
      .finally(() => {
        busy = false
        next()
      })
  }

  function draw(sheet: TicketSheet): Promise<Buffer> {
    if (closed) return Promise.reject(new Problem('OVERLOADED', { retryAfterSeconds: RETRY_AFTER_S }))
    worker ??= start()
    const drawing = worker
    return new Promise<Buffer>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer)
        drawing.off('message', answered).off('error', failed).off('exit', ended)
        // An idle thread keeps no process alive.
        drawing.unref()
      }
      const failed = (error: Error) => {
        done()
        if (worker === drawing) worker = null
        void drawing.terminate()
        reject(error)
      }
      const ended = () => failed(new Error('the thread that draws tickets ended'))
      const answered = (drawn: Drawn) => {
        done()
        if ('pdf' in drawn) resolve(Buffer.from(drawn.pdf))
        else reject(new Error(drawn.error))
      }
      const timer = setTimeout(() => failed(new Error('drawing tickets took too long')), drawWithinMs)
      drawing.ref()
      drawing.on('message', answered).on('error', failed).on('exit', ended)
      drawing.postMessage(sheet)
    })
  }

  function start(): Worker {
    const started = new Worker(thread)
    // Whatever ends it while it is idle: the next job starts another.
    const forget = () => {
      if (worker === started) worker = null
    }
    return started.on('error', forget).on('exit', forget)
  }

  return {
    print(sheet) {
      const hash = createHash('sha256').update(JSON.stringify(sheet)).digest('base64')
      const before = kept.get(hash)
      if (before) return Promise.resolve(before)
      const same = printing.get(hash)
      if (same) return same
      if (waiting.length >= WAITING_MAX)
        return Promise.reject(new Problem('OVERLOADED', { retryAfterSeconds: RETRY_AFTER_S }))
      const printed = new Promise<Buffer>((resolve, reject) => {
        waiting.push({ sheet, resolve, reject })
        next()
      }).finally(() => printing.delete(hash))
      printing.set(hash, printed)
      printed.then(
        (pdf) => kept.set(hash, pdf),
        () => {},
      )
      return printed
    },
    async close() {
      closed = true
      for (const { reject } of waiting.splice(0))
        reject(new Problem('OVERLOADED', { retryAfterSeconds: RETRY_AFTER_S }))
      await worker?.terminate()
    },
  }
}
