// One answer to Prometheus for all processes behind a port: whoever is asked asks the one above, which sums what each has (or takes the greatest, where
// each sees the same thing).
import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry } from 'prom-client'
import type { Metrics } from '#core/metrics.ts'
import type { Told } from './processes.ts'

// A process that is stuck must not take the numbers of the others with it.
const PATIENCE_MS = 2_000

let asked = 0

/** Above: its own numbers and those of every process that answers in time, as Prometheus text. */
export async function sumMetrics(own: Metrics): Promise<string> {
  const processes = Object.values(cluster.workers ?? {}).flatMap((worker) => (worker?.isConnected() ? [worker] : []))
  const answers = await Promise.all([own.registry.getMetricsAsJSON(), ...processes.map(metricsOf)])
  return AggregatorRegistry.aggregate(answers.filter((answer) => answer !== null)).metrics()
}

/** Above: `worker` was asked for the numbers of all. */
export async function answerMetrics(worker: Worker, wanted: number, own: Metrics): Promise<void> {
  const text = await sumMetrics(own)
  if (worker.isConnected()) worker.send({ metrics: wanted, text })
}

/** Below: asks the one above, and answers it when it asks for this process's own. */
export function reportThroughParent(own: () => Metrics | null): () => Promise<string> {
  process.on('message', async (told: { metricsWanted: number }) => {
    if ('metricsWanted' in told)
      process.send?.({ metrics: told.metricsWanted, json: (await own()?.registry.getMetricsAsJSON()) ?? [] })
  })
  return async () => {
    const answer = await reply<{ text: string }>(process, (message) => process.send?.(message))
    return answer?.text ?? (await own()?.registry.metrics()) ?? ''
  }
}

async function metricsOf(worker: Worker): Promise<object[] | null> {
  const answer = await reply<{ json: object[] }>(worker, (message) => worker.send(message))
  return answer?.json ?? null
}

type Listening = {
  on(event: 'message', listener: (told: Told) => void): unknown
  off(event: 'message', listener: (told: Told) => void): unknown
}

/** Sends `{ metricsWanted }` and waits for the message that carries its number; null when none comes in time. */
function reply<Answer>(from: Listening, send: (message: { metricsWanted: number }) => void): Promise<Answer | null> {
  asked += 1
  const wanted = asked
  return new Promise((resolve) => {
    const end = (answer: Answer | null) => {
      clearTimeout(late)
      from.off('message', listen)
      resolve(answer)
    }
    const listen = (told: Told) => {
      if ('metrics' in told && told.metrics === wanted) end(told as Answer)
    }
    const late = setTimeout(() => end(null), PATIENCE_MS)
    from.on('message', listen)
    send({ metricsWanted: wanted })
  })
}
