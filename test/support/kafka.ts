// A real Apache Kafka broker for tests: one node without ZooKeeper on free ports, its jars fetched once from Maven Central into .runtime. A machine without
// Java or Maven Central gets librdkafka's mock cluster instead, and the test says so.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Admin, Consumer, stringDeserializers } from '@platformatic/kafka'
import type { CloudEvent } from '#outbox/cloud-event.ts'
import { startMockKafka } from './kafka-mock.ts'

const RUNTIME = join(new URL('../..', import.meta.url).pathname, '.runtime')
/** Runs on Java 17. */
const VERSION = '4.1.0'
const JARS = join(RUNTIME, `kafka-${VERSION}`)
const START_MS = 60_000
// A test broker holds a few megabytes; these make it start in seconds.
const JVM = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto']

export type TestKafka = {
  /** What it is, for the output of the test. */
  what: string
  /** host:port */
  broker: string
  createTopic(name: string, partitions?: number): Promise<void>
  /** Everything in the topic, in the order of each partition. */
  read(topic: string): Promise<KafkaRecord[]>
  /** Runs it again after a stop or kill, with what it had stored. */
  start(): Promise<void>
  /** SIGTERM, as an operator would. */
  stop(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGSTOP: it holds its connections and answers nothing. */
  hang(): void
  /** SIGCONT. */
  goOn(): void
}
export type KafkaRecord = { key: string; partition: number; offset: bigint; contentType: string; event: CloudEvent }
/** What differs between the broker and the mock. */
export type Server = Pick<TestKafka, 'what' | 'broker' | 'start' | 'stop' | 'kill' | 'hang' | 'goOn'> & {
  createTopic?: TestKafka['createTopic']
}

export async function startKafka(t: Pick<TestContext, 'after' | 'diagnostic'>): Promise<TestKafka> {
  const missing = whatIsMissing()
  const server = missing === null ? await startBroker(t) : await startMockKafka(t, missing)
  t.diagnostic(server.what)
  const client = { clientId: 'test', bootstrapBrokers: [server.broker] }
  return {
    createTopic: async (name, partitions = 3) => {
      const admin = new Admin(client)
      await admin.createTopics({ topics: [name], partitions, replicas: 1 }).finally(() => admin.close())
    },
    ...server,
    read: (topic) => readTopic(client, topic),
  }
}

async function startBroker(t: Pick<TestContext, 'after'>): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kafka-'))
  const [port, controllerPort] = [await freePort(), await freePort()]
  const properties = join(folder, 'server.properties')
  writeFileSync(properties, settings(folder, port, controllerPort))
  const java = (main: string, ...args: string[]) => [...JVM, '-cp', join(JARS, '*'), main, ...args]
  const format = java('kafka.tools.StorageTool', 'format', '-t', 'aG9sZGZhc3QtdGVzdC1rYQ', '-c', properties)
  const formatted = spawnSync('java', format, { encoding: 'utf8' })
  if (formatted.status !== 0) throw new Error(`Kafka's storage was not made: ${formatted.stdout}${formatted.stderr}`)
  let child: ChildProcess | null = null
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    const running = child
    child = null
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const gone = new Promise((resolve) => running.once('exit', resolve))
    running.kill(signal)
    await gone
  }
  const start = async () => {
    child = spawn('java', java('kafka.Kafka', properties), { cwd: folder, stdio: 'ignore' })
    await untilAnswering(`127.0.0.1:${port}`)
  }
  t.after(async () => {
    await end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return {
    what: `Apache Kafka ${VERSION}, one broker`,
    broker: `127.0.0.1:${port}`,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    hang: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
  }
}

function settings(folder: string, port: number, controllerPort: number): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=${join(folder, 'log')}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.enable=false
message.max.bytes=200000
`
}

/** Null when a real broker can run; otherwise the sentence why not. */
function whatIsMissing(): string | null {
  const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' })
  if (status !== 0) return 'there is no Java 17 (Debian: apt-get install default-jre-headless)'
  if (Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0) < 17)
    return `this Java is older than 17: ${stderr.split('\n')[0]}`
  return existsSync(JARS) || fetchJars()
    ? null
    : 'Maven cannot fetch org.apache.kafka:kafka_2.13 (Debian: apt-get install maven)'
}

function fetchJars(): boolean {
  mkdirSync(RUNTIME, { recursive: true })
  const folder = mkdtempSync(join(RUNTIME, 'fetching-kafka-'))
  writeFileSync(
    join(folder, 'pom.xml'),
    `<project><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>kafka</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${VERSION}</version></dependency></dependencies></project>`,
  )
  const args = ['-q', '-B', 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=jars']
  const fetched = spawnSync('mvn', args, { cwd: folder, encoding: 'utf8' }).status === 0
  // Two test files may fetch at once: whoever is second finds the same there.
  if (fetched && !existsSync(JARS)) renameSync(join(folder, 'jars'), JARS)
  rmSync(folder, { recursive: true, force: true })
  return fetched
}

async function readTopic(
  client: { clientId: string; bootstrapBrokers: string[] },
  topic: string,
): Promise<KafkaRecord[]> {
  const groupId = `reader-${process.hrtime.bigint()}`
  const consumer = new Consumer({ ...client, groupId, deserializers: stringDeserializers })
  try {
    const ends = (await consumer.listOffsets({ topics: [topic], timestamp: -1n })).get(topic) ?? []
    let left = ends.reduce((sum, offset) => sum + Number(offset), 0)
    const records: KafkaRecord[] = []
    if (left === 0) return records
    const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false })
    for await (const { key, partition, offset, headers, value } of stream) {
      const contentType = headers.get('content-type') ?? ''
      records.push({ key: String(key), partition, offset, contentType, event: JSON.parse(String(value)) as CloudEvent })
      if (--left === 0) break
    }
    return records
  } finally {
    await consumer.close(true)
  }
}

async function untilAnswering(broker: string): Promise<void> {
  const endMs = performance.now() + START_MS
  for (;;) {
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker], retries: 0, connectTimeout: 1_000 })
    const metadata = await admin.metadata({ topics: [] }).catch(() => null)
    await admin.close().catch(() => {})
    if (metadata && metadata.brokers.size > 0) return
    if (performance.now() > endMs) throw new Error('Kafka did not get ready in time')
    await sleep(200)
  }
}

// Below the range that the system gives to outgoing connections: the broker comes back to its port after a restart.
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 10_000)
    const probe = createServer()
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    await new Promise((resolve) => probe.close(resolve))
    if (free) return port
  }
}
