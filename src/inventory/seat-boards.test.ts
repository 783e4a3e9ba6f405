// The boards of a process: right within 2 s whatever happens to the line, free at a hold's very end, and no refusal that was not true.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTo, type Sql } from '#database/connect.ts'
import { auditInventories } from '#inventory/audit/audit-inventories.ts'
import { chance, printedSeed } from '#test/races/processes.ts'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import { postgresStore } from './postgres-store.ts'
import type { BoardStep, SeatLetter } from './seat-board.ts'
import { openSeatBoards, type SeatBoards } from './seat-boards.ts'
import type { PlaceRequest } from './seat-store.ts'

const SEATS = ['A1', 'A2', 'A3', 'A4']
// What E1 and B099 allow, and what a loaded test machine takes on top.
const RIGHT_WITHIN_MS = 2_000
const LETTER = { AVAILABLE: 'A', HELD: 'H', BOOKED: 'B', BLOCKED: 'X' } as const

function wish(inventoryId: number, seats: string[], more: Partial<PlaceRequest> = {}): PlaceRequest {
  return {
    ...{ inventoryId, seats, holdId: randomUUID(), customerId: `cust_${randomUUID()}`, tokenHash: '00'.repeat(32) },
    ...{ ttlMs: 600_000, lifeMs: 600_000, amountMinor: 1, currency: 'EUR', quote: {}, ...more },
  }
}

async function setUp(t: TestContext, { freshMs = 100 } = {}) {
  // Closed before the database goes, as hooks run in the order they were given.
  const opened: SeatBoards[] = []
  t.after(() => Promise.all(opened.map((boards) => boards.close())))
  const db = await freshDatabase(t)
  const open = (freshMs = 100) => {
    const boards = openSeatBoards({
      connect: () => db.connect(2, { name: 'holdfast-boards', statementTimeoutMs: 1_000 }),
      freshMs,
    })
    opened.push(boards)
    return boards
  }
  const store = postgresStore(db.sql)
  const inventoryId = await store.open({ seats: SEATS })
  const boards = open(freshMs)
  return {
    db,
    store,
    inventoryId,
    boards,
    open,
    opened,
    place: (seats: string[], more = {}) => store.place([wish(inventoryId, seats, more)]),
  }
}

/** A viewer as a browser is one: the picture it began with, and every step applied to it. */
async function view(boards: SeatBoards, inventoryId: number) {
  const steps: BoardStep[] = []
  let letters = new Map<string, SeatLetter>()
  let reloads = 0
  const watching = await boards.watch(inventoryId, (told) => {
    if (told === null) {
      reloads += 1
      letters = lettersOf(watching.board().letters())
    }
    for (const step of told ?? []) {
      steps.push(step)
      for (const { code, status } of step.changes) letters.set(code, LETTER[status])
    }
  })
  letters = lettersOf(watching.board().letters())
  return { steps, reloads: () => reloads, seen: () => SEATS.map((code) => letters.get(code)).join(''), watching }
}

function lettersOf(text: string): Map<string, SeatLetter> {
  return new Map(SEATS.map((code, at) => [code, text[at] as SeatLetter]))
}

async function soon(what: () => unknown, expected: unknown, withinMs = RIGHT_WITHIN_MS): Promise<void> {
  const deadlineMs = performance.now() + withinMs
  while (performance.now() < deadlineMs && !Object.is(what(), expected)) await sleep(10)
  assert.equal(what(), expected)
}

test('a viewer sees each change in version order: held, extended, sold, blocked, given back', async (t) => {
  const { boards, inventoryId, store, place } = await setUp(t)
  const viewer = await view(boards, inventoryId)
  const [held] = await place(['A1', 'A2'])
  assert.ok(held?.outcome === 'HELD')
  await store.checkOut(inventoryId, held.holdId ?? '', 600_000)
  await store.confirm(inventoryId, held.holdId ?? '', randomUUID())
  await store.block(inventoryId, ['A4'], 'test', 'broken')
  await store.unblock(inventoryId, ['A4'])
  await store.block(inventoryId, ['A3'], 'test', 'broken')
  await soon(viewer.seen, 'BBXA')
  assert.deepEqual(
    viewer.steps.map(({ version, lapsed }) => [version, lapsed]),
    [2, 3, 4, 5, 6, 7].map((version) => [version, 0]),
  )
  assert.deepEqual(viewer.steps[1]?.changes, [], 'an extension changes no status, and moves the version on')
  assert.equal(viewer.reloads(), 0)
})

test('a hold that ends turns free at its end by the clock alone, as a step of its own; the version stays', async (t) => {
  const { boards, inventoryId, place } = await setUp(t)
  const viewer = await view(boards, inventoryId)
  await place(['A1'], { ttlMs: 1_500 })
  await soon(viewer.seen, 'HAAA', 1_000)
  await soon(viewer.seen, 'AAAA', 3_000)
  assert.deepEqual(
    viewer.steps.map(({ version, lapsed, changes }) => [version, lapsed, changes]),
    [
      [2, 0, [{ code: 'A1', status: 'HELD' }]],
      [2, 1, [{ code: 'A1', status: 'AVAILABLE' }]],
    ],
  )
})

test('two processes call one picture by one name, whether they followed or came later', async (t) => {
  const { open, boards, inventoryId, place } = await setUp(t)
  const viewer = await view(boards, inventoryId)
  for (const [at, seat] of SEATS.entries()) await place([seat], { ttlMs: 1_000 + at * 300 })
  await soon(() => viewer.watching.board().lapsed, 2, 3_000)
  const { board } = await open().look(inventoryId)
  const followed = viewer.watching.board()
  assert.deepEqual(
    [board.version, board.lapsed, board.asOf, board.letters()],
    [followed.version, followed.lapsed, followed.asOf, followed.letters()],
  )
})

test('the clock of the database set back brings a lapsed hold to life again', async (t) => {
  const { db, boards, inventoryId, place } = await setUp(t)
  const viewer = await view(boards, inventoryId)
  await place(['A1'], { ttlMs: 60_000 })
  await soon(viewer.seen, 'HAAA')
  await db.shiftClock(61_000)
  await soon(viewer.seen, 'AAAA')
  await db.shiftClock(0)
  await soon(viewer.seen, 'HAAA')
})

test('trap 25: the LISTEN connection ended, the next change is seen within 2 s', async (t) => {
  const { db, boards, inventoryId, place } = await setUp(t)
  const viewer = await view(boards, inventoryId)
  await place(['A1'])
  await soon(viewer.seen, 'HAAA')
  for (const seat of ['A2', 'A3']) {
    await db.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'holdfast-boards'`
    await place([seat])
    await soon(() => viewer.seen()[SEATS.indexOf(seat)], 'H')
  }
})

test('with no notification at all every board is right within 2 s; with notifications other processes hear of a hold', async (t) => {
  const { db, boards, open, inventoryId, place } = await setUp(t)
  const other = open()
  const viewer = await view(other, inventoryId)
  // Nobody called changed(): what a process does that dies between its commit and its word.
  await place(['A1'])
  await soon(viewer.seen, 'HAAA')
  const heard: string[] = []
  const { unlisten } = await db.sql.listen('holdfast_changes', (payload) => heard.push(payload))
  for (let n = 0; n < 30; n++) boards.changed(inventoryId)
  await soon(() => heard.length > 0, true)
  await sleep(300)
  assert.deepEqual([...new Set(heard)], [String(inventoryId)], 'the payload is the inventory and nothing else')
  assert.ok(heard.length <= 2, `30 changes in one turn were told ${heard.length} times`)
  await unlisten()
})

test('a gap in the change rows reloads the board, and its viewers get the whole picture', async (t) => {
  const { db, boards, inventoryId, place } = await setUp(t)
  const viewer = await view(boards, inventoryId)
  await db.sql.begin(async (tx) => {
    await postgresStore(tx).place([wish(inventoryId, ['A1'])])
    await postgresStore(tx).place([wish(inventoryId, ['A2'])])
    await tx`delete from inventory_changes where inventory_id = ${inventoryId} and version = 2`
  })
  await soon(viewer.seen, 'HHAA')
  assert.equal(viewer.reloads(), 1)
  await place(['A3'])
  await soon(viewer.seen, 'HHHA')
})

test('seats are refused by the board only when somebody else surely has them', async (t) => {
  const { db, boards, inventoryId, store, place } = await setUp(t)
  const me = 'cust_me'
  const refusal = (seats: string[], customerId = me) => boards.surelyTaken(inventoryId, customerId, seats)
  assert.equal(refusal(['A1']), null, 'no board, no refusal')
  const viewer = await view(boards, inventoryId)
  await place(['A1'], { customerId: 'cust_other' })
  await place(['A2'], { customerId: 'cust_other_too', ttlMs: 900 })
  await store.block(inventoryId, ['A4'], 'test', 'broken')
  await soon(viewer.seen, 'HHAX', 800)
  assert.deepEqual(refusal(['A1', 'A3']), [{ code: 'A1', reason: 'held' }])
  assert.deepEqual(refusal(['A4']), [{ code: 'A4', reason: 'blocked' }])
  assert.equal(refusal(['A3']), null, 'free')
  assert.equal(refusal(['A2']), null, 'held, but for less than a second')
  assert.equal(refusal(['A1', 'Z9']), null, 'an unknown seat is the database’s to name')
  assert.equal(refusal(['A4'], 'cust_other'), null, 'who holds something here asks the database')
  boards.changed(inventoryId)
  assert.equal(refusal(['A1']), null, 'in doubt')
  await soon(() => refusal(['A1']) !== null, true)
  await db.sql`update inventories set status = 'CLOSED' where id = ${inventoryId}`
  await soon(() => refusal(['A1']), null)
})

test('a board that cannot ask refuses nothing; without that rule it would refuse a seat that is free', async (t) => {
  const { db, inventoryId, opened, place, store } = await setUp(t)
  let cut = false
  const pools: Sql[] = []
  const connect = () => {
    const pool = cut ? connectTo({ ...db.options, host: '127.0.0.1', port: 1 }, { max: 1, name: 'cut' }) : db.connect(2)
    pools.push(pool)
    return pool
  }
  t.after(() => Promise.all(pools.map((pool) => pool.end({ timeout: 0 }))))
  const [held] = await place(['A1'])
  assert.ok(held?.outcome === 'HELD')
  for (const [freshMs, wrongly] of [
    [100, false],
    [60_000, true],
  ] as const) {
    cut = false
    const boards = openSeatBoards({ connect, freshMs })
    opened.push(boards)
    await boards.watch(inventoryId, () => {})
    assert.ok(boards.surelyTaken(inventoryId, 'cust_me', ['A2']) === null)
    const [mine] = await place(['A2'])
    assert.ok(mine?.outcome === 'HELD')
    await soon(() => boards.surelyTaken(inventoryId, 'cust_me', ['A2']) !== null, true)
    cut = true
    await Promise.all(pools.splice(0).map((pool) => pool.end({ timeout: 0 })))
    await store.release(inventoryId, mine.holdId ?? '')
    await sleep(400)
    assert.equal(boards.surelyTaken(inventoryId, 'cust_me', ['A2']) !== null, wrongly)
    // The map is shown as it was, and says how old it is.
    assert.ok((await boards.look(inventoryId)).ageMs > 300)
  }
})

type Refusal = { version: number; blocking: string[]; customerId: string; askedUs: number }
const STALENESS_MAX_US = 300_000
const LONG = process.env.HOLDFAST_TEST_LONG !== undefined

test('random holds and releases by two processes: every refusal of a board was true at most a moment before it was asked for', async (t) => {
  const seed = printedSeed()
  const random = chance(seed)
  const { db, boards, open, inventoryId, place, store } = await setUp(t)
  const processes = [boards, open()] as const
  for (const one of processes) await view(one, inventoryId)
  const refusals: Refusal[] = []
  const held: string[] = []
  const untilMs = performance.now() + (LONG ? 30_000 : 4_000)
  await Promise.all(
    processes.map(async (one) => {
      while (performance.now() < untilMs) {
        const customerId = `cust_${random(6)}`
        const seats = SEATS.filter(() => random(3) === 0).slice(0, 2)
        if (seats.length === 0) continue
        const { board } = await one.look(inventoryId)
        const askedUs = Date.now() * 1_000
        const blocking = one.surelyTaken(inventoryId, customerId, seats)
        if (blocking) {
          refusals.push({ version: board.version, blocking: blocking.map(({ code }) => code), customerId, askedUs })
        } else {
          const [outcome] = await place(seats, { customerId, ttlMs: 1_200 + random(2_000) })
          if (outcome?.outcome === 'HELD') held.push(outcome.holdId ?? '')
        }
        if (held.length > 0 && random(4) === 0)
          await store.release(inventoryId, held.splice(random(held.length), 1)[0] ?? '')
        await sleep(random(20))
      }
    }),
  )
  assert.ok(refusals.length > 20, `only ${refusals.length} refusals by boards`)
  assert.deepEqual(await wrongRefusals(db, inventoryId, refusals), [])
  assert.deepEqual(await auditInventories(db.sql), [])
  // The control: the same judge finds a refusal of a seat that was free.
  const free = { ...(refusals[0] as Refusal), version: 1 }
  assert.equal((await wrongRefusals(db, inventoryId, [free])).length, 1)
})

/** Replays the change rows to the version each refusal was made from: somebody else had a seat of it, and it was the newest version a moment before. */
async function wrongRefusals(db: TestDatabase, inventoryId: number, refusals: Refusal[]): Promise<string[]> {
  const changes = await db.sql<
    { version: number; changedUs: number; seatCodes: string[]; seatStatuses: string[]; owners: string[] }[]
  >`
    select c.version, (extract(epoch from c.changed_at) * 1000000)::bigint as changed_us, c.seat_codes, c.seat_statuses,
      array(select coalesce(h.customer_id, '') from unnest(c.seat_hold_ids) with ordinality x (id, at)
        left join holds h on h.inventory_id = c.inventory_id and h.id = x.id order by x.at) as owners
    from inventory_changes c where c.inventory_id = ${inventoryId} order by c.version`
  const owner = new Map<string, string>()
  const wrong: string[] = []
  for (const [at, change] of changes.entries()) {
    for (const [n, code] of change.seatCodes.entries())
      owner.set(code, change.seatStatuses[n] === 'HELD' ? (change.owners[n] ?? '') : '')
    const endUs = changes[at + 1]?.changedUs ?? Number.POSITIVE_INFINITY
    for (const { version, blocking, customerId, askedUs } of refusals.filter((one) => one.version === change.version)) {
      const others = blocking.filter((code) => owner.get(code) !== '' && owner.get(code) !== customerId)
      if (others.length !== blocking.length) wrong.push(`version ${version}: ${blocking} were not all somebody else's`)
      if (endUs < askedUs - STALENESS_MAX_US) wrong.push(`version ${version} was over ${askedUs - endUs} us before`)
    }
  }
  return wrong
}
