// alone: a relay that is killed (kill -9, a real process) around every step: nothing lost, order kept, repeats only under the same id.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bookings, firstDeliveries, tell } from '#test/outbox/outbox-ground.ts'
import { freshDatabase, type TestDatabase } from '#test/support/database.ts'
import type { Step } from './relay-process.ts'

const PROGRAM = new URL('./relay-process.ts', import.meta.url).pathname
type Taken = { id: string; bookingId: string; seq: number }

async function ground(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-relay-'))
  const file = join(folder, 'taken')
  writeFileSync(file, '')
  const running: ChildProcess[] = []
  t.after(() => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  // After the line above, so that the relays are gone before their database is.
  const db = await freshDatabase(t)
  return {
    db,
    startRelay(step: Step) {
      const env = { ...process.env, RELAY: JSON.stringify({ step, file, database: db.options }) }
      const child = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'], env })
      running.push(child)
      return child
    },
    taken: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line) => (line ? [JSON.parse(line) as Taken] : [])),
  }
}

async function killAt(child: ChildProcess, step: Step): Promise<void> {
  await untilSaid(child, `at ${step}`)
  await kill(child)
}

async function untilSaid(child: ChildProcess, sentence: string): Promise<void> {
  assert.ok(child.stdout)
  for await (const line of createInterface({ input: child.stdout })) if (line === sentence) return
  assert.fail(`the relay never said: ${sentence}`)
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

async function untilTold(db: TestDatabase): Promise<void> {
  const endMs = performance.now() + 60_000
  for (;;) {
    const [row] = await db.sql`select count(*)::int as unsent from outbox where published_at is null`
    if (row?.unsent === 0) return
    assert.ok(performance.now() < endMs, `${row?.unsent} events were never told`)
    await sleep(50)
  }
}

async function assertComplete(db: TestDatabase, taken: Taken[]): Promise<number> {
  const written = await db.sql<Taken[]>`select id, booking_id, seq from outbox`
  const got = new Map(taken.map((one) => [one.id, one]))
  assert.deepEqual(
    written.filter(({ id }) => !got.has(id)),
    [],
  )
  assert.equal(got.size, written.length)
  for (const ofBooking of Map.groupBy(taken, ({ bookingId }) => bookingId).values()) {
    const numbers = firstDeliveries(ofBooking.map(({ seq }) => seq))
    assert.deepEqual(
      numbers,
      [...numbers.keys()].map((at) => at + 1),
    )
  }
  return taken.length - got.size
}

const STEPS: { step: Step; what: string; repeated: number }[] = [
  { step: 'claimed', what: 'after the lease, before anything is sent', repeated: 0 },
  { step: 'half sent', what: 'with half of the batch sent', repeated: 6 },
  { step: 'sent', what: 'between send and mark', repeated: 12 },
  { step: 'marking', what: 'while it marks, before the commit', repeated: 12 },
]

for (const { step, what, repeated } of STEPS) {
  test(`killed ${what}: the next one tells everything, ${repeated} of 12 a second time`, async (t) => {
    const { db, startRelay, taken } = await ground(t)
    const ids = await bookings(db.sql, 4)
    for (let note = 1; note <= 3; note++) for (const id of ids) await tell(db.sql, id, note)
    if (step === 'marking') await slowMarks(db, true)
    await killAt(startRelay(step), step)
    if (step === 'marking') {
      // What a server does when it notices that nobody is at the other end any more.
      await db.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'killed-relay'`
      await slowMarks(db, false)
    }
    const [left] = await db.sql`select count(*)::int as unsent from outbox where published_at is null`
    assert.equal(left?.unsent, 12, 'nothing was marked')
    await db.shiftClock(31_000)
    startRelay('never')
    await untilTold(db)
    assert.equal(await assertComplete(db, taken()), repeated)
  })
}

async function slowMarks(db: TestDatabase, on: boolean): Promise<void> {
  if (!on) return void (await db.sql.unsafe('drop trigger slow on outbox_deliveries'))
  await db.sql.unsafe(`
    create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(60); return old; end';
    create trigger slow before delete on outbox_deliveries for each row execute function slow()`)
}

test('two relay processes killed again and again under load: nothing lost, every booking in order', async (t) => {
  const { db, startRelay, taken } = await ground(t)
  const ids = await bookings(db.sql, 50)
  let writing = true
  const load = (async () => {
    while (writing) for (const id of ids) await tell(db.sql, id, 'load')
  })()
  const kills = process.env.HOLDFAST_TEST_LONG ? 40 : 6
  let [one, other] = [startRelay('slow'), startRelay('slow')]
  for (let round = 1; round <= kills; round++) {
    await untilSaid(one, 'at slow')
    await sleep(Math.random() * 300)
    await kill(one)
    // The clock moves, so that what the dead one leased is not waited for.
    await db.shiftClock(round * 31_000)
    one = other
    other = startRelay('slow')
  }
  writing = false
  await load
  await db.shiftClock((kills + 1) * 31_000)
  other.kill('SIGKILL')
  one.kill('SIGKILL')
  startRelay('never')
  await db.shiftClock((kills + 2) * 31_000)
  await untilTold(db)
  const repeats = await assertComplete(db, taken())
  t.diagnostic(`${taken().length} deliveries, ${repeats} of them repeats, ${kills} kills`)
})
