// refusals: POST holds for seats that are taken, through HTTP, against a bare route of the same server that checks the same body and answers a fixed 409.
import { randomUUID } from 'node:crypto'
import { postgresStore } from '#inventory/postgres-store.ts'
import { type Bench, median } from './bench.ts'
import { fire, type Shot } from './http-load.ts'
import { startServer } from './start-server.ts'

const CONNECTIONS = 100
const CUSTOMERS = 1_000
const DAY_MS = 86_400_000

export const bench: Bench = {
  name: 'refusals',
  ours: 'holds of taken seats',
  reference: 'a bare route with the same body check and a fixed 409',
  mustReach: 0.8,
  async run({ address, pool, quick, say }) {
    const rounds = quick ? 3 : 7
    const shotsARound = quick ? 5_000 : 20_000
    const server = await startServer(address, CUSTOMERS, 1)
    try {
      const { oursPort, shows, tokens } = server.stage
      const show = shows[0] ?? ''
      await holdAll(postgresStore(pool(1)), Number(show.slice('show_'.length)))
      const shots = (path: string, count: number): Shot[] =>
        Array.from({ length: count }, (_, n) => ({
          path,
          token: tokens[n % CUSTOMERS] ?? '',
          body: JSON.stringify({ seats: [`A${(n % 19) + 1}`, `A${(n % 19) + 2}`] }),
        }))
      const perSecond = { ours: [] as number[], reference: [] as number[] }
      const volley = async (path: string, count: number) => {
        const { byStatus, elapsedMs } = await fire(oursPort, CONNECTIONS, shots(path, count))
        if (byStatus.get(409) !== count) throw new Error(`not all were refused: ${JSON.stringify([...byStatus])}`)
        return (count / elapsedMs) * 1_000
      }
      const [ours, bare] = [`/v1/showtimes/${show}/holds`, `/bench/${show}/refusal`]
      for (const path of [ours, bare]) await volley(path, shotsARound)
      for (let round = 1; round <= rounds; round++) {
        perSecond.ours.push(await volley(ours, shotsARound))
        perSecond.reference.push(await volley(bare, shotsARound))
        say(
          `round ${round}: ours ${Math.round(perSecond.ours.at(-1) ?? 0)}/s, bare ${Math.round(perSecond.reference.at(-1) ?? 0)}/s`,
        )
      }
      return {
        name: 'refusals',
        ours: Math.round(median(perSecond.ours)),
        reference: Math.round(median(perSecond.reference)),
        ratio: median(perSecond.ours.map((value, at) => value / (perSecond.reference[at] ?? 1))),
        unit: 'refusals/s',
        rounds,
        notes: { connections: CONNECTIONS },
      }
    } finally {
      server.stop()
    }
  },
}

async function holdAll(store: ReturnType<typeof postgresStore>, inventoryId: number): Promise<void> {
  const seats = Array.from({ length: 20 }, (_, n) => `A${n + 1}`)
  for (const seat of seats) {
    const [outcome] = await store.place([
      {
        ...{ inventoryId, holdId: randomUUID(), customerId: `cust_${randomUUID()}`, tokenHash: '00'.repeat(32) },
        ...{ ttlMs: DAY_MS, lifeMs: DAY_MS, seats: [seat], amountMinor: 1, currency: 'EUR', quote: {} },
      },
    ])
    if (outcome?.outcome !== 'HELD') throw new Error(`${seat} was not held: ${outcome?.outcome}`)
  }
}
