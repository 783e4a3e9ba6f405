// Tells Kafka: one topic, keyed by booking, CloudEvents, by an idempotent producer that all replicas have to confirm.
import { Producer, stringSerializers } from '@platformatic/kafka'
import type { Config } from '#config.ts'
import { CLOUD_EVENT_TYPE, cloudEvent, subjectOf } from './cloud-event.ts'
import type { OutboxEvent } from './event.ts'
import type { Sink, Undelivered } from './sink.ts'

type Settings = Pick<
  Config,
  'kafkaBrokers' | 'kafkaTopic' | 'kafkaTls' | 'kafkaSasl' | 'kafkaUsername' | 'kafkaPassword' | 'publicUrl'
>
type KafkaProducer = Producer<string, string, string, string>

// The client waits for a hung broker far beyond its own limits (seen: 12 s with a limit of 1.5), so the deadline is ours; it ends before the lease.
const SEND_MS = 15_000
const REQUEST_MS = 5_000
const CONNECT_MS = 5_000
const RETRIES = 2
const RETRY_PAUSE_MS = 250
// What the broker says about the record itself, and would say again.
const REFUSED_RECORD = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'CORRUPT_MESSAGE'])

export function kafkaSink(settings: Settings, { sendMs = SEND_MS }: { sendMs?: number } = {}): Sink {
  let producer: KafkaProducer | null = null

  // What became of a send that failed or took too long is unknown: it is sent again, by a new producer. The old one's idempotence ends with it, so a
  // duplicate is possible, always with the same event id and never before the events ahead of it.
  function abandon(): void {
    void producer?.close(true).catch(() => {})
    producer = null
  }

  async function produce(events: OutboxEvent[], deadlineMs: number): Promise<void> {
    producer ??= openProducer(settings)
    const messages = events.map((event) => ({
      topic: settings.kafkaTopic,
      key: subjectOf(event),
      value: JSON.stringify(cloudEvent(event, settings.publicUrl)),
      headers: { 'content-type': CLOUD_EVENT_TYPE },
    }))
    try {
      await within(deadlineMs, producer.send({ messages }))
    } catch (error) {
      abandon()
      throw error
    }
  }

  // A refused record spoils the whole request: halves of it find the one that is meant, and the other bookings leave.
  async function deliver(events: OutboxEvent[], deadlineMs: number): Promise<Undelivered[]> {
    try {
      await produce(events, deadlineMs)
      return []
    } catch (error) {
      const [first, ...more] = events
      if (!first || !isRefusedRecord(error)) throw error
      if (more.length === 0) return [{ id: first.id, error: String(error) }]
      const middle = events.length >> 1
      const refused = await deliver(events.slice(0, middle), deadlineMs)
      const stopped = new Set(
        events.filter(({ id }) => refused.some((one) => one.id === id)).map((one) => one.bookingId),
      )
      const rest = events.slice(middle).filter(({ bookingId }) => !stopped.has(bookingId))
      return rest.length === 0 ? refused : [...refused, ...(await deliver(rest, deadlineMs))]
    }
  }

  return {
    name: 'kafka',
    send: (events) => deliver(events, performance.now() + sendMs),
    async close() {
      const closing = producer?.close(true)
      producer = null
      await closing?.catch(() => {})
    },
  }
}

function openProducer(settings: Settings): KafkaProducer {
  const { kafkaSasl: mechanism, kafkaUsername: username, kafkaPassword: password } = settings
  return new Producer({
    clientId: 'holdfast',
    bootstrapBrokers: settings.kafkaBrokers,
    serializers: stringSerializers,
    idempotent: true,
    acks: -1,
    // A topic made by accident has the wrong number of partitions, and more partitions later move keys.
    autocreateTopics: false,
    timeout: REQUEST_MS,
    connectTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    retries: RETRIES,
    retryDelay: RETRY_PAUSE_MS,
    ...(settings.kafkaTls === 'on' ? { tls: {} } : {}),
    ...(mechanism === 'off' ? {} : { sasl: { mechanism, username, password } }),
  })
}

async function within(deadlineMs: number, sending: Promise<unknown>): Promise<void> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error('Kafka did not answer in time; what arrived is unknown and is sent again')),
    Math.max(0, deadlineMs - performance.now()),
  )
  try {
    await Promise.race([sending, tooLate])
  } finally {
    clearTimeout(timer)
    sending.catch(() => {})
  }
}

// The client wraps what the broker said in errors of errors.
function isRefusedRecord(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { apiId, errors = [], cause } = error as Error & { apiId?: string; errors?: unknown[] }
  if (apiId !== undefined && REFUSED_RECORD.has(apiId)) return true
  return [...errors, cause].some(isRefusedRecord)
}
