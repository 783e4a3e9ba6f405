// Several processes behind one port (PROCESSES): this one owns the database, runs the workers and keeps the others alive; each of the others answers at the
// door, and the kernel deals the connections out.
import cluster, { type Worker } from 'node:cluster'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '#config.ts'
import { StartRefused } from '#database/start-refused.ts'
import { type Holdfast, localUrl, startHoldfast } from '#main.ts'
import { answerMetrics, sumMetrics } from './metrics-of-processes.ts'

// A process that died is replaced at once; one that dies again and again, ever more slowly.
const RESTART_MS = 100
const RESTART_MAX_MS = 10_000
/** A process that lived this long has recovered. */
const STEADY_MS = 60_000
// The processes drain for 5 s themselves; who is not gone by then is ended.
const STOP_MS = 8_000

export type Told =
  | { listening: true }
  | { wake: string }
  | { metricsWanted: number }
  | { metrics: number; json: object[] }

/** `settled` has a port that is free (withFreePort). Answers when every process listens. A process that cannot start takes the others with it (StartRefused; it said why itself). */
export async function startProcesses(
  settled: Config,
  log: FastifyBaseLogger,
  say: (sentence: string) => void,
): Promise<Holdfast> {
  const holdfast = await startHoldfast({ config: settled, log, roles: ['workers'], say })
  holdfast.metrics.report = () => sumMetrics(holdfast.metrics)
  let closing = false
  let quickDeaths = 0

  function startOne(): Worker {
    const startedMs = performance.now()
    const worker = cluster.fork({ PORT: String(settled.port) })
    worker.on('message', (told: Told) => {
      if ('wake' in told) holdfast.wake(told.wake)
      else if ('metricsWanted' in told) void answerMetrics(worker, told.metricsWanted, holdfast.metrics)
    })
    worker.once('exit', (code, signal) => {
      if (closing) return
      quickDeaths = performance.now() - startedMs < STEADY_MS ? quickDeaths + 1 : 0
      const waitMs = Math.min(RESTART_MS * 2 ** quickDeaths, RESTART_MAX_MS)
      log.error({ process: worker.id, code, signal, waitMs }, 'a process ended and is replaced')
      setTimeout(() => closing || startOne(), waitMs)
    })
    return worker
  }

  async function close(): Promise<void> {
    closing = true
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && stopOne(worker)))
    await holdfast.close()
  }

  try {
    await Promise.all(Array.from({ length: settled.processes }, () => untilListening(startOne())))
  } catch (error) {
    await close()
    throw error
  }
  return { ...holdfast, url: localUrl(settled.host, settled.port), close }
}

function untilListening(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (told: Told) => 'listening' in told && resolve())
    worker.once('exit', () => reject(new StartRefused('A process could not start; what it said stands above.')))
  })
}

function stopOne(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (worker.isDead()) return resolve()
    const tooLong = setTimeout(() => worker.process.kill('SIGKILL'), STOP_MS)
    worker.once('exit', () => {
      clearTimeout(tooLong)
      resolve()
    })
    worker.process.kill('SIGTERM')
  })
}
