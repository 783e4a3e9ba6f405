// What an operator watches, in Prometheus' words. One registry a process; labels are routes and codes, never ids, so that their number stays bounded.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  // Brings the event loop's lag, memory and garbage collection along.
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    /** Prometheus text; of several processes under one roof the numbers of all, whoever is asked. */
    report: () => registry.metrics(),
    httpSeconds: new Histogram({
      name: 'holdfast_http_request_duration_seconds',
      help: 'Time to answer, by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    problems: new Counter({
      name: 'holdfast_problems_total',
      help: 'Refusals and failures answered, by code',
      labelNames: ['code'],
      registers,
    }),
    holds: new Counter({
      name: 'holdfast_holds_total',
      help: 'Hold requests decided, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    attemptsRefused: new Counter({
      name: 'holdfast_attempts_refused_total',
      help: 'Attempts to hold and sessions over a limit, by what was limited',
      labelNames: ['per'],
      registers,
    }),
    limitsAlone: new Counter({
      name: 'holdfast_limits_alone_total',
      help: 'Limits this process decided alone, because Redis did not answer',
      registers,
    }),
    combinerBatch: new Histogram({
      name: 'holdfast_combiner_batch_size',
      help: 'Hold requests decided in one transaction',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    }),
    gateAnswers: new Counter({
      name: 'holdfast_gate_answers_total',
      help: 'What the gate said to holds: claimed, taken, failed (Redis did not answer), skipped (it was not asked, for it failed before)',
      labelNames: ['outcome'],
      registers,
    }),
    workerSeconds: new Histogram({
      name: 'holdfast_worker_run_duration_seconds',
      help: 'Time of one run of a worker',
      labelNames: ['worker'],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    }),
    workerDone: new Counter({
      name: 'holdfast_worker_done_total',
      help: 'What a worker got done (holds swept, events sent ...)',
      labelNames: ['worker'],
      registers,
    }),
    workerFailures: new Counter({
      name: 'holdfast_worker_failures_total',
      help: 'Runs of a worker that failed',
      labelNames: ['worker'],
      registers,
    }),
    /** The same for each of something that is few, such as a sink: label value -> number. Seen alike by every process. */
    observeEach(name: string, help: string, label: string, read: () => Promise<Map<string, number>>): void {
      new Gauge({
        name,
        help,
        registers,
        labelNames: [label],
        aggregator: 'max',
        async collect() {
          const numbers = await read()
          this.reset()
          for (const [value, number] of numbers) this.set({ [label]: value }, number)
        },
      })
    },
    /** A number that is read when somebody asks, never kept: queue lengths, pool use, outbox lag. */
    observe(
      name: string,
      help: string,
      read: () => number | Promise<number>,
      /** Of several processes that are asked as one: the sum of what each has, or the same number seen by each. */
      ofProcesses: 'sum' | 'max' = 'sum',
    ): void {
      new Gauge({
        name,
        help,
        registers,
        aggregator: ofProcesses,
        async collect() {
          this.set(await read())
        },
      })
    },
  }
}
