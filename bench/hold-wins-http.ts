// hold-wins-http: the same holds of two free seats through HTTP, from a load process of its own (this one) against the server's process.
import { availableParallelism } from 'node:os'
import { type Bench, median, seeded, shuffle } from './bench.ts'
import { fire, type Shot } from './http-load.ts'
import { startServer } from './start-server.ts'

const CONNECTIONS = 1_000
// As an operator runs it on a machine of two cores: PROCESSES=2, for the reference as for us.
const PROCESSES = availableParallelism()
// Until then a process still compiles what it does often: without it the first rounds are a fifth slower than the rest.
const WARM_UP = { ours: 10_000, reference: 2_500 }

export const bench: Bench = {
  name: 'hold-wins-http',
  ours: 'the server',
  reference: 'the same server with the textbook transaction in the place of the combiner',
  mustReach: 6,
  async run({ address, quick, say }) {
    const rounds = quick ? 2 : 5
    const shotsOurs = quick ? 3_000 : 8_000
    const shotsReference = quick ? 800 : 2_000
    const warmUp = quick ? { ours: 500, reference: 500 } : WARM_UP
    const shotsInAll = rounds * (shotsOurs + shotsReference) + warmUp.ours + warmUp.reference
    const server = await startServer(address, shotsInAll, PROCESSES)
    try {
      const { oursPort, referencePort, shows, tokens } = server.stage
      const shots = wishes(shows, tokens)
      await volley(oursPort, shots.splice(0, warmUp.ours))
      await volley(referencePort, shots.splice(0, warmUp.reference))
      const perSecond = { ours: [] as number[], reference: [] as number[] }
      for (let round = 1; round <= rounds; round++) {
        perSecond.ours.push(await volley(oursPort, shots.splice(0, shotsOurs)))
        perSecond.reference.push(await volley(referencePort, shots.splice(0, shotsReference)))
        say(
          `round ${round}: ours ${Math.round(perSecond.ours.at(-1) ?? 0)}/s, reference ${Math.round(perSecond.reference.at(-1) ?? 0)}/s`,
        )
      }
      const ours = median(perSecond.ours)
      const reference = median(perSecond.reference)
      return {
        name: 'hold-wins-http',
        ours: Math.round(ours),
        reference: Math.round(reference),
        ratio: ours / reference,
        unit: 'holds/s',
        rounds,
        notes: { connections: CONNECTIONS, processes: PROCESSES },
      }
    } finally {
      server.stop()
    }
  },
}

// The house's rows skip I and O. Each pair of neighbours once, each by another customer: every request can be granted, and must be.
function wishes(shows: string[], tokens: string[]): Shot[] {
  const pairs = shows.flatMap((show) =>
    [...'ABCDEFGHJKLMNPQ'].flatMap((row) =>
      Array.from({ length: 10 }, (_, n) => ({ show, seats: [`${row}${2 * n + 1}`, `${row}${2 * n + 2}`] })),
    ),
  )
  return shuffle(pairs, seeded(1))
    .slice(0, tokens.length)
    .map(({ show, seats }, index) => ({
      path: `/v1/showtimes/${show}/holds`,
      token: tokens[index] ?? '',
      body: JSON.stringify({ seats }),
    }))
}

async function volley(port: number, shots: Shot[]): Promise<number> {
  if (shots.length === 0) throw new Error('the house has no seats left to wish for: give it more shows')
  const { byStatus, elapsedMs } = await fire(port, CONNECTIONS, shots)
  const granted = byStatus.get(201) ?? 0
  if (granted !== shots.length)
    throw new Error(`${shots.length} holds were asked for, answers: ${JSON.stringify([...byStatus])}`)
  return (granted / elapsedMs) * 1_000
}
