// npm run demo:race: one seat, fifty buyers at once, round after round. First the way most systems begin (look, then save), on a real PostgreSQL, and how often
// it sells the seat twice; then the same crowd against Holdfast's engine, through two combiners as two processes would have them: never.
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fragment } from 'postgres'
import { connect, type Sql } from '#database/connect.ts'
import { startEmbeddedPostgres } from '#database/embedded.ts'
import { migrate } from '#database/migrate.ts'
import { createCombiner } from '#inventory/combiner.ts'
import { postgresStore } from '#inventory/postgres-store.ts'

const BUYERS = 50
const ROUNDS = 200

type Tally = { sales: number; soldTwice: number; most: number; unsold: number; elapsedMs: number }

const dir = mkdtempSync(join(tmpdir(), 'holdfast-race-'))
chmodSync(dir, 0o711)
console.log('Starting a PostgreSQL of its own ...')
const postgres = await startEmbeddedPostgres({ dir, log: () => {} })
const sql = connect(postgres.options, { max: 20, name: 'race' })
try {
  await migrate(sql)
  console.log(`One seat, ${BUYERS} buyers at once, ${ROUNDS} rounds.\n`)
  const naive = await lookThenSave(sql)
  report('Look, then save', naive)
  const ours = await holdfast(sql)
  report('Holdfast', ours)
  console.log(
    `\nLook, then save sold ${naive.soldTwice} of ${ROUNDS} seats more than once, one of them ${naive.most} times. Holdfast: ${ours.soldTwice}.`,
  )
  process.exitCode = ours.soldTwice === 0 && ours.unsold === 0 && naive.soldTwice > 0 ? 0 : 1
} finally {
  await sql.end()
  await postgres.stop()
  rmSync(dir, { recursive: true, force: true })
}

// What every textbook on web applications shows: read the seat, and if it is free, save the sale. Between the two, others have read it too.
async function lookThenSave(pool: Sql): Promise<Tally> {
  await pool`create table naive_seats (id int primary key, sold boolean not null default false)`
  await pool`create table naive_sales (seat_id int not null, buyer text not null)`
  await pool`insert into naive_seats (id) select generate_series(1, ${ROUNDS})`
  const startMs = performance.now()
  for (let seat = 1; seat <= ROUNDS; seat++) {
    await Promise.all(
      Array.from({ length: BUYERS }, async () => {
        const [found] = await pool<{ sold: boolean }[]>`select sold from naive_seats where id = ${seat}`
        if (!found || found.sold) return
        await pool.begin(async (tx) => {
          await tx`insert into naive_sales (seat_id, buyer) values (${seat}, ${randomUUID()})`
          await tx`update naive_seats set sold = true where id = ${seat}`
        })
      }),
    )
  }
  const elapsedMs = performance.now() - startMs
  return { ...(await tally(pool, pool`select seat_id::text as seat from naive_sales`)), elapsedMs }
}

async function holdfast(pool: Sql): Promise<Tally> {
  const store = postgresStore(pool)
  const seats = Array.from({ length: ROUNDS }, (_, n) => `F${n + 1}`)
  const inventoryId = await store.open({ seats })
  const combiners = [createCombiner(store), createCombiner(store)]
  const startMs = performance.now()
  for (const seat of seats) {
    await Promise.all(
      Array.from({ length: BUYERS }, async (_, buyer) => {
        const holdId = randomUUID()
        const outcome = await combiners[buyer % combiners.length]?.place({
          inventoryId,
          holdId,
          customerId: randomUUID(),
          tokenHash: '00'.repeat(32),
          ttlMs: 600_000,
          lifeMs: 1_800_000,
          seats: [seat],
          amountMinor: 1_200,
          currency: 'EUR',
          quote: null,
        })
        if (outcome?.outcome !== 'HELD') return
        await store.checkOut(inventoryId, holdId, 600_000)
        await store.confirm(inventoryId, holdId, randomUUID())
      }),
    )
  }
  const elapsedMs = performance.now() - startMs
  await Promise.all(combiners.map((combiner) => combiner.close()))
  // Counted from the holds that became bookings, not from booked_seats: its primary key could not even store a second sale.
  const sales = pool`select c.code as seat from holds h cross join unnest(h.seat_codes) c (code) where h.status = 'BOOKED'`
  return { ...(await tally(pool, sales)), elapsedMs }
}

async function tally(pool: Sql, sales: Fragment): Promise<Omit<Tally, 'elapsedMs'>> {
  const [row] = await pool<{ sales: number; sold: number; soldTwice: number; most: number }[]>`
    select coalesce(sum(n), 0)::int as sales, count(*)::int as sold, count(*) filter (where n > 1)::int as sold_twice, coalesce(max(n), 0)::int as most
    from (select seat, count(*) as n from (${sales}) s group by seat) per_seat`
  if (!row) throw new Error('no count')
  return { sales: row.sales, soldTwice: row.soldTwice, most: row.most, unsold: ROUNDS - row.sold }
}

function report(who: string, { sales, soldTwice, most, unsold, elapsedMs }: Tally): void {
  const cell = (value: number) => String(value).padStart(4)
  console.log(
    `${who.padEnd(16)} ${cell(sales)} sales of ${ROUNDS} seats   sold more than once ${cell(soldTwice)}   most for one seat ${cell(most)}   unsold ${cell(unsold)}   ${(elapsedMs / 1_000).toFixed(1)} s`,
  )
}
