// Every worker there is, started together: tidying, telling, settling. All may run in any number of processes.
import type { Parts } from '#app.ts'
import { keepDemoScheduleAhead } from '#cinema/demo/keep-schedule-ahead.ts'
import { formatSharded } from '#core/ids.ts'
import { type RunningWorkers, runWorkers, type Worker } from '#core/workers.ts'
import type { Sql, Tx } from '#database/connect.ts'
import { sweepWorker } from '#holds/sweep-holds.ts'
import { pruneAnswersWorker } from '#idempotency/answer-store.ts'
import { loyaltyConsumers } from '#loyalty/keep-ledger.ts'
import { mailConsumers, mailWorkers } from '#mail/workers.ts'
import { kafkaSink } from '#outbox/kafka-sink.ts'
import { pruneOutbox } from '#outbox/prune-outbox.ts'
import { type ParkedEvent, relays } from '#outbox/relay.ts'
import { type Consumer, inProcessSink, type Sink } from '#outbox/sink.ts'
import { expireBookings } from '#payments/expire-bookings.ts'
import { lookUpPayments } from '#payments/look-up-payments.ts'
import { reconcileWorker } from '#payments/reconciliations.ts'
import { settleDebts } from '#payments/settle-debts.ts'
import { putOnWorklist } from '#payments/worklist.ts'
import { ticketConsumer } from '#tickets/issue-tickets.ts'
import { deliverWebhooks } from '#webhooks/deliver-webhooks.ts'
import { webhooksSink } from '#webhooks/fan-out.ts'
import { pruneDeliveries } from '#webhooks/prune-deliveries.ts'
import { reachOf } from '#webhooks/public-address.ts'
import { databaseTime } from './watch-database.ts'

const DEMO_INTERVAL_MS = 3_600_000

/** `sql` is a pool of their own. `callbackUrl` is where the sandbox brings its messages. */
export function runAllWorkers(sql: Sql, parts: Parts, callbackUrl: string): RunningWorkers {
  const { config, log, metrics, providers, wake } = parts
  const sinks = openSinks(sql, parts)
  const workers: Worker[] = [
    sweepWorker(sql, config),
    expireBookings({ sql, wake }),
    settleDebts({ sql, providers, config, wake }),
    lookUpPayments({ sql, providers, config, wake }),
    reconcileWorker({ sql, providers, config, wake }),
    ...relays({ sql, config, sinks, onParked: reportParked }),
    deliverWebhooks({ sql, reach: reachOf(config) }),
    pruneDeliveries({ sql, config }),
    ...mailWorkers({ ...parts, sql }),
    ...providers.flatMap((provider) => provider.workers?.(sql, callbackUrl) ?? []),
    pruneAnswersWorker(sql),
    pruneOutbox({ sql, config }),
    demoSchedule(sql, config.demoData),
  ]
  const running = runWorkers(workers, log, {
    onRun(worker, done, seconds) {
      metrics.workerSeconds.observe({ worker }, seconds)
      metrics.workerDone.inc({ worker }, done)
    },
    onFailure: (worker) => metrics.workerFailures.inc({ worker }),
  })
  return {
    wake: running.wake,
    async stop() {
      await running.stop()
      await Promise.all(sinks.map((sink) => sink.close?.()))
    },
  }
}

/** Who is told of every event from the start on. Webhooks come along with the first endpoint. */
export function sinksFromTheStart({ kafkaBrokers }: Parts['config']): string[] {
  return kafkaBrokers.length > 0 ? ['in-process', 'kafka'] : ['in-process']
}

function openSinks(sql: Sql, parts: Parts): Sink[] {
  const kafka = parts.config.kafkaBrokers.length > 0 ? [kafkaSink(parts.config)] : []
  return [inProcessSink(allConsumers(sql, parts)), ...kafka, webhooksSink({ sql, wake: parts.wake })]
}

/** What a sink would not take is for a person to look at. */
export function reportParked(tx: Tx, { inventoryId, bookingId, sink, id, name, error }: ParkedEvent): Promise<void> {
  const facts = { sink, eventId: id, event: name, bookingId: formatSharded('book', inventoryId, bookingId), error }
  return putOnWorklist(tx, { inventoryId, kind: 'EVENT_PARKED', facts })
}

/** In their order: a mail with tickets is queued after the tickets were issued. */
export function allConsumers(sql: Sql, parts: Pick<Parts, 'config' | 'ticketKey' | 'wake'>): Consumer[] {
  const ours = { ...parts, sql }
  return [ticketConsumer(ours), ...mailConsumers(ours), ...loyaltyConsumers(ours)]
}

// A process that runs for weeks still has something to show next week.
function demoSchedule(sql: Sql, demoData: 'on' | 'off'): Worker {
  return {
    name: 'demo-schedule',
    intervalMs: demoData === 'on' ? DEMO_INTERVAL_MS : 0,
    run: async () => keepDemoScheduleAhead(sql, { now: await databaseTime(sql) }),
  }
}
