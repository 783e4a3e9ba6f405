// Runs what must be done again and again (sweep, relay, settle ...): one at a time each, a pause after each run, woken early when there is something to do.
import type { FastifyBaseLogger } from 'fastify'

/** `run` does a bounded amount and answers how much it did. Any number of processes may run the same worker. */
export type Worker = {
  name: string
  /** The pause between the end of a run and the next; 0 switches the worker off. */
  intervalMs: number
  /** Another name it is woken by, shared with others. */
  wokenAs?: string
  /** The longest pause while it fails. */
  backoffMaxMs?: number
  run(): Promise<number>
}

export type RunningWorkers = {
  /** Runs it at once, or once more if it is running; a name that does not run here is ignored: another process has it. */
  wake(name: string): void
  /** Begins no new run and waits for those under way. */
  stop(): Promise<void>
}

export type WorkerEvents = {
  onRun?: (name: string, done: number, seconds: number) => void
  onFailure?: (name: string) => void
}

// A worker that fails (database away) asks again ever more rarely, up to this pause.
const BACKOFF_MAX_MS = 30_000

export function runWorkers(workers: Worker[], log: FastifyBaseLogger, events: WorkerEvents = {}): RunningWorkers {
  const running = new Map(
    workers.filter((worker) => worker.intervalMs > 0).map((worker) => [worker.name, startLoop(worker, log, events)]),
  )
  return {
    wake(name) {
      running.get(name)?.wake()
      for (const worker of workers) if (worker.wokenAs === name) running.get(worker.name)?.wake()
    },
    async stop() {
      await Promise.all([...running.values()].map((loop) => loop.stop()))
    },
  }
}

function startLoop(worker: Worker, log: FastifyBaseLogger, events: WorkerEvents) {
  let stopped = false
  let woken = false
  let failures = 0
  let endPause = () => {}

  async function loop(): Promise<void> {
    while (!stopped) {
      woken = false
      await runOnce()
      if (!stopped && !woken) await pause(failures === 0 ? worker.intervalMs : backoffMs(worker, failures))
    }
  }

  async function runOnce(): Promise<void> {
    const began = performance.now()
    try {
      const done = await worker.run()
      failures = 0
      events.onRun?.(worker.name, done, (performance.now() - began) / 1000)
    } catch (error) {
      failures += 1
      events.onFailure?.(worker.name)
      log.error({ err: error, worker: worker.name, failures }, 'a worker failed and will try again')
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const ended = loop()
  return {
    wake() {
      // While it fails, being woken must not defeat the backoff.
      if (failures > 0) return
      woken = true
      endPause()
    },
    stop() {
      stopped = true
      endPause()
      return ended
    },
  }
}

function backoffMs({ intervalMs, backoffMaxMs = BACKOFF_MAX_MS }: Worker, failures: number): number {
  return Math.max(intervalMs, Math.min(intervalMs * 2 ** Math.min(failures, 16), backoffMaxMs))
}
