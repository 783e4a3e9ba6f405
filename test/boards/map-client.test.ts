// alone: E1: a map client of three real processes, one of which is killed again and again, has exactly the database's seats within 2 s of the last change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql } from '#database/connect.ts'
import { attachEmbeddedPostgres } from '#database/embedded.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { chance, printedSeed } from '#test/races/processes.ts'
import { childrenOf } from '#test/start/children.ts'
import { dataFolder, holdfast, stop } from '#test/start/run-holdfast.ts'
import { type EventStream, openEventStream } from '#test/support/event-stream.ts'

const PROCESSES = 3
const CLIENTS = 9
const ROUNDS = process.env.HOLDFAST_TEST_LONG ? 2_000 : 150
const KILL_EVERY = 50
const RIGHT_WITHIN_MS = 2_000
const LETTER: Record<string, string> = { AVAILABLE: 'A', HELD: 'H', BOOKED: 'B', BLOCKED: 'X' }

/** What a page keeps: its picture, and where it is in the stream. */
type Client = { stream: EventStream; taken: number; letters: string[]; lastId: string; snapshots: number }

test('E1: snapshot, then changes, replay to the database’s seats across kills, cut lines and changed processes', async (t) => {
  const random = chance(printedSeed())
  const dir = await dataFolder(t)
  const running = await holdfast(t, {
    PROCESSES: String(PROCESSES),
    DEMO_DATA: 'on',
    HOLDFAST_DATA: dir,
    LOG_LEVEL: 'error',
  })
  const database = await attachEmbeddedPostgres({ dir, log: () => {} })
  const sql = connect(database.options, { max: 2, name: 'map-client-test' })
  t.after(() => sql.end({ timeout: 1 }))
  const show = await firstShow(running.url)
  const inventoryId = Number(show.slice('show_'.length))
  const layout = (await (await fetch(`${running.url}/v1/showtimes/${show}/layout`)).json()) as {
    seats: { code: string }[]
  }
  const codes = layout.seats.map(({ code }) => code)

  const open = async (lastId: string): Promise<EventStream> => {
    const url = `${running.url}/v1/showtimes/${show}/seats/stream`
    for (const endMs = performance.now() + 30_000; performance.now() < endMs; ) {
      const stream = await openEventStream(url, lastId === '' ? {} : { 'last-event-id': lastId }).catch(() => null)
      if (stream?.status === 200) return stream
      await sleep(50)
    }
    throw new Error('no process gives a stream')
  }
  const clients: Client[] = []
  for (let n = 0; n < CLIENTS; n++)
    clients.push({ stream: await open(''), taken: 0, letters: [], lastId: '', snapshots: 0 })
  t.after(() => {
    for (const { stream } of clients) stream.close()
  })
  const reconnect = async (client: Client) => {
    takeIn(client, codes)
    client.stream.close()
    Object.assign(client, { stream: await open(client.lastId), taken: 0 })
  }
  // As a browser does when its line is cut.
  const healing = new Set<Client>()
  const heal = setInterval(() => {
    for (const client of clients.filter((one) => one.stream.over() && !healing.has(one))) {
      healing.add(client)
      void reconnect(client).finally(() => healing.delete(client))
    }
  }, 20).unref()

  const store = postgresStore(sql)
  const blocked = new Set<string>()
  for (let round = 1; round <= ROUNDS; round++) {
    const code = codes[random(codes.length)] ?? ''
    if (blocked.delete(code)) await store.unblock(inventoryId, [code])
    else if ((await store.block(inventoryId, [code], 'test', 'E1')).outcome === 'BLOCKED') blocked.add(code)
    if (random(10) === 0) {
      const client = clients[random(CLIENTS)]
      if (client && !healing.has(client)) await reconnect(client)
    }
    if (random(20) === 0) await cutLines(sql)
    if (round % KILL_EVERY === 0) {
      const children = childrenOf(running.child)
      process.kill(children[random(children.length)] ?? 0, 'SIGKILL')
    }
  }

  // A killed process takes a moment to be replaced; the clock runs from when every client has a line again.
  for (const endMs = performance.now() + 20_000; performance.now() < endMs; await sleep(20))
    if (healing.size === 0 && clients.every(({ stream }) => !stream.over())) break
  const { truth, version } = await readTruth(sql, inventoryId, codes)
  const deadlineMs = performance.now() + RIGHT_WITHIN_MS
  const seen = () => clients.map((client) => takeIn(client, codes))
  while (performance.now() < deadlineMs && seen().some((letters) => letters !== truth)) await sleep(20)
  assert.deepEqual(
    seen(),
    clients.map(() => truth),
  )
  assert.ok(truth.includes('X') && version > ROUNDS / 2)
  assert.ok(clients.some(({ snapshots, lastId }) => snapshots > 0 && Number(lastId) === version))
  clearInterval(heal)
  assert.equal(await stop(running, 'SIGTERM'), 0)
})

async function readTruth(sql: Sql, inventoryId: number, codes: string[]): Promise<{ truth: string; version: number }> {
  const state = await postgresStore(sql).read(inventoryId)
  const byCode = new Map(state?.seats.map(({ code, status }) => [code, LETTER[status]]))
  return { truth: codes.map((code) => byCode.get(code)).join(''), version: state?.version ?? 0 }
}

/** The boards' own lines, of all processes. */
async function cutLines(sql: Sql): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast-boards'`
}

/** Applies what has come since, in order; answers the picture. */
function takeIn(client: Client, codes: string[]): string {
  const { stream } = client
  for (const { id, event, data } of stream.events.slice(client.taken)) {
    if (event === 'snapshot') {
      client.letters = [...(data as { statuses: string }).statuses]
      client.snapshots += 1
    } else {
      const { version, changes } = data as { version: number; changes: { code: string; status: string }[] }
      assert.equal(version, Number(client.lastId) + 1, 'no change is missed or comes twice')
      for (const { code, status } of changes) client.letters[codes.indexOf(code)] = LETTER[status] ?? '?'
    }
    client.lastId = id
    client.taken += 1
  }
  return client.letters.join('')
}

async function firstShow(url: string): Promise<string> {
  const reply = await fetch(`${url}/v1/showtimes?limit=1`)
  const { items } = (await reply.json()) as { items: { id: string }[] }
  return items[0]?.id ?? ''
}
