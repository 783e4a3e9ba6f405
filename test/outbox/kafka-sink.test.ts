// alone: events on a real Kafka broker: what a consumer reads, and what it misses when the broker is stopped, killed or hangs under load (nothing).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { kafkaSink } from '#outbox/kafka-sink.ts'
import { outboxLag } from '#outbox/lag.ts'
import { ATTEMPTS_MAX } from '#outbox/note-outcome.ts'
import { registerSinks } from '#outbox/register-sinks.ts'
import { relayTo } from '#outbox/relay.ts'
import { bookings, firstDeliveries, INVENTORY, tell } from '#test/outbox/outbox-ground.ts'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import { type KafkaRecord, startKafka, type TestKafka } from '#test/support/kafka.ts'

const LONG = process.env.HOLDFAST_TEST_LONG !== undefined
let kafka: TestKafka
const ending: (() => void | Promise<void>)[] = []
before(async () => {
  kafka = await startKafka({ after: (fn) => void ending.push(fn as () => void), diagnostic: console.log })
})
after(async () => {
  for (const end of ending) await end()
})

const settings = (kafkaTopic: string) => ({
  kafkaBrokers: [kafka.broker],
  kafkaTopic,
  kafkaTls: 'off' as const,
  kafkaSasl: 'off' as const,
  kafkaUsername: '',
  kafkaPassword: '',
  publicUrl: 'https://tickets.example.com',
})

async function open(t: { after: (fn: () => Promise<void>) => void }, topic: string, sendMs?: number) {
  const db = await freshDatabase(t)
  await registerSinks(db.sql, ['kafka'])
  await kafka.createTopic(topic)
  const sink = kafkaSink(settings(topic), sendMs === undefined ? {} : { sendMs })
  t.after(async () => sink.close?.())
  return { db, sink }
}

/** Nothing missing, each booking in order, a repeat only of what came already. Answers how many repeats there were. */
async function assertComplete(db: TestDatabase, records: KafkaRecord[]): Promise<number> {
  const written = await db.sql<{ id: string }[]>`select id from outbox`
  const got = new Set(records.map(({ event }) => event.id))
  assert.deepEqual(
    written.map(({ id }) => id).filter((id) => !got.has(id)),
    [],
    'events that no consumer saw',
  )
  assert.equal(got.size, written.length, 'events that nobody wrote')
  for (const [key, ofBooking] of Map.groupBy(records, (record) => record.key)) {
    const numbers = firstDeliveries(ofBooking.map(({ event }) => Number(event.sequence)))
    assert.deepEqual(
      numbers,
      [...numbers.keys()].map((at) => at + 1),
      `${key} in order`,
    )
    assert.equal(new Set(ofBooking.map(({ partition }) => partition)).size, 1, `${key} in one partition`)
  }
  return records.length - got.size
}

test('a consumer reads CloudEvents, keyed by booking, in the booking’s order', async (t) => {
  const { db, sink } = await open(t, 'plain')
  const ids = await bookings(db.sql, 20)
  for (let note = 1; note <= 5; note++) for (const id of ids) await tell(db.sql, id, note)
  assert.equal(await relayTo(db.sql, sink), 100)
  const records = await kafka.read('plain')
  assert.equal(await assertComplete(db, records), 0)
  assert.ok(new Set(records.map(({ partition }) => partition)).size > 1)
  const [row] = await db.sql<{ id: string; createdAt: string }[]>`
    select id, created_at from outbox where booking_id = ${ids[0] ?? ''} and seq = 1`
  const record = records.find(({ event }) => event.id === row?.id)
  const key = `book_${INVENTORY}_${ids[0]?.replaceAll('-', '')}`
  assert.equal(record?.key, key)
  assert.equal(record.contentType, 'application/cloudevents+json; charset=UTF-8')
  assert.deepEqual(record.event, {
    specversion: '1.0',
    id: row?.id,
    source: 'https://tickets.example.com',
    type: 'holdfast.BookingPending',
    subject: key,
    time: row?.createdAt,
    datacontenttype: 'application/json',
    sequence: '1',
    sequencetype: 'Integer',
    data: { note: 1 },
  })
})

test('a record the broker refuses is parked with its booking; the others of the same batch leave', async (t) => {
  const { db, sink } = await open(t, 'poison')
  const ids = await bookings(db.sql, 12)
  const [sick = ''] = ids.slice(5)
  for (const id of ids) await tell(db.sql, id, 1)
  await tell(db.sql, sick, 'x'.repeat(300_000))
  for (const id of ids) await tell(db.sql, id, 3)
  for (let round = 0; round < ATTEMPTS_MAX; round++) {
    await db.shiftClock(round * 120_000)
    await relayTo(db.sql, sink)
  }
  const records = await kafka.read('poison')
  const expected = ids.map((id) => [id, id === sick ? [1] : [1, 2]])
  const seen = ids.map((id) => {
    const ofBooking = records.filter(({ key }) => key.endsWith(id.replaceAll('-', '')))
    return [id, firstDeliveries(ofBooking.map(({ event }) => Number(event.sequence)))]
  })
  assert.deepEqual(seen, expected)
  const lag = (await outboxLag(db.sql)).find((one) => one.sink === 'kafka')
  assert.deepEqual([lag?.parked, lag?.unsent], [1, 1])
  const [parked] = await db.sql`select last_error from outbox_deliveries where parked_at is not null`
  assert.match(parked?.lastError, /larger than the max message size/)
})

test('a broker stopped, killed and hung under load, two relays: nothing lost, order kept, repeats only under the same id', async (t) => {
  const { db, sink } = await open(t, 'faults', 3_000)
  const second = kafkaSink(settings('faults'), { sendMs: 3_000 })
  t.after(async () => second.close?.())
  const ids = await bookings(db.sql, 200)
  const rounds = LONG ? 10 : 1
  let faulting = true
  let away = 0
  const relaying = [sink, second].map(async (one) => {
    const pool = db.connect(3)
    while (faulting) {
      await relayTo(pool, one).catch(() => (away += 1))
      await sleep(20)
    }
  })
  const writing = (async () => {
    while (faulting)
      for (const id of ids.toSorted(() => Math.random() - 0.5).slice(0, 40)) await tell(db.sql, id, 'load')
  })()
  for (let round = 0; round < rounds; round++) {
    await sleep(500)
    await kafka.stop()
    await sleep(1_000)
    await kafka.start()
    await sleep(500)
    await kafka.kill()
    await sleep(1_000)
    await kafka.start()
    await sleep(500)
    kafka.hang()
    await sleep(5_000)
    kafka.goOn()
    await sleep(1_000)
  }
  faulting = false
  await Promise.all([...relaying, writing])
  await db.shiftClock(31_000)
  const backMs = performance.now()
  for (let tries = 0; ; tries++) {
    const done = await relayTo(db.sql, sink).then(
      () => true,
      () => false,
    )
    if (done) break
    assert.ok(tries < 20, 'Kafka is back and takes nothing')
    await sleep(250)
  }
  assert.ok(away > 0, 'the faults were felt')
  const repeats = await assertComplete(db, await kafka.read('faults'))
  const [count] = await db.sql`select count(*)::int as events from outbox`
  t.diagnostic(
    `${count?.events} events, ${repeats} repeats, ${away} failed sends; the rest delivered ${Math.round(performance.now() - backMs)} ms after the last fault`,
  )
})

test('a topic that is not there is no event’s fault: nothing is parked, and it is told when it is made', async (t) => {
  const db = await freshDatabase(t)
  await registerSinks(db.sql, ['kafka'])
  const [a = ''] = await bookings(db.sql, 1)
  await tell(db.sql, a, 1)
  const sink = kafkaSink(settings('made-later'))
  t.after(async () => sink.close?.())
  await assert.rejects(relayTo(db.sql, sink))
  await kafka.createTopic('made-later')
  assert.equal(await relayTo(db.sql, sink), 1)
  assert.equal((await kafka.read('made-later')).length, 1)
})
