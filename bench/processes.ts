// processes: what N processes on N cores do is N times what one does, if none costs the others anything: the processor time of one request must not grow
// with the number of processes. (The requests a second are in the notes; on two cores the load and PostgreSQL take their share of what a second process adds.)
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { type Bench, median } from './bench.ts'
import { fire, type Shot } from './http-load.ts'
import { startServer } from './start-server.ts'

const CONNECTIONS = 100
// The kernel counts in hundredths of a second.
const TICK_US = 10_000

export const bench: Bench = {
  name: 'processes',
  ours: 'processor time of a map request in each of as many processes as cores',
  reference: 'the same in one process',
  mustReach: 0.9,
  async run({ address, quick, say }) {
    const many = Math.max(2, availableParallelism())
    const rounds = quick ? 3 : 7
    const count = quick ? 10_000 : 40_000
    const servers = [await startServer(address, 1, 1), await startServer(address, 1, many)] as const
    try {
      const measured = { one: [] as Measured[], many: [] as Measured[] }
      for (let round = 0; round <= rounds; round++) {
        const [one, several] = [await measure(servers[0], count), await measure(servers[1], count)]
        // The first is for the processes to compile what they do often.
        if (round === 0) continue
        measured.one.push(one)
        measured.many.push(several)
        say(
          `round ${round}: one ${Math.round(one.perSecond)}/s at ${one.cpuUs.toFixed(0)} us, ${many} processes ${Math.round(several.perSecond)}/s at ${several.cpuUs.toFixed(0)} us`,
        )
      }
      const cpuUs = (values: Measured[]) => median(values.map((value) => value.cpuUs))
      const perSecond = (values: Measured[]) => median(values.map((value) => value.perSecond))
      return {
        name: 'processes',
        ours: Math.round(cpuUs(measured.many)),
        reference: Math.round(cpuUs(measured.one)),
        ratio: cpuUs(measured.one) / cpuUs(measured.many),
        unit: 'us of processor time a request',
        rounds,
        notes: {
          processes: many,
          'requests/s by one': Math.round(perSecond(measured.one)),
          'requests/s by all': Math.round(perSecond(measured.many)),
        },
      }
    } finally {
      for (const server of servers) server.stop()
    }
  },
}

type Measured = { perSecond: number; cpuUs: number }

async function measure(server: Awaited<ReturnType<typeof startServer>>, count: number): Promise<Measured> {
  const { oursPort, shows, tokens } = server.stage
  const path = `/v1/showtimes/${shows[0]}/seats`
  const tag = (
    await fetch(`http://127.0.0.1:${oursPort}${path}`, { headers: { 'accept-encoding': 'identity' } })
  ).headers.get('etag')
  const shot: Shot = { path, token: tokens[0] ?? '', body: null, headers: { 'If-None-Match': tag ?? '' } }
  const before = cpuUsOf(server.pid)
  const { byStatus, elapsedMs } = await fire(oursPort, CONNECTIONS, new Array<Shot>(count).fill(shot))
  if (byStatus.get(304) !== count) throw new Error(`answers: ${JSON.stringify([...byStatus])}`)
  return { perSecond: (count / elapsedMs) * 1_000, cpuUs: (cpuUsOf(server.pid) - before) / count }
}

/** Of the processes that this one started, user and system time together. */
function cpuUsOf(parent: number): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => statOf(pid))
    .filter((stat) => Number(stat[1]) === parent)
    .reduce((sum, stat) => sum + (Number(stat[11]) + Number(stat[12])) * TICK_US, 0)
}

// Fields after the name in parentheses, which may hold spaces: 1 is the parent, 11 and 12 the ticks in user and system mode.
function statOf(pid: string): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    // It ended meanwhile.
    return []
  }
}
