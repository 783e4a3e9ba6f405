// What can be asked of a rush, as options of the command; anything that makes no sense is refused in one sentence.
import { availableParallelism } from 'node:os'
import { StartRefused } from '#database/start-refused.ts'

export type RushOrder = {
  /** Null: a system of its own is started. */
  url: string | null
  showId: string | null
  buyers: number
  /** In which they all arrive, most of them at the beginning. */
  seconds: number
  seed: number
  /** Processes that play the crowd, and of the own system. */
  workers: number
  processes: number
  connections: number
  /** Own system only: a waiting room before the sale with so many buyers inside at once; 0: none. */
  room: number
  seats: number
  json: boolean
  reportFile: string | null
  /** For the audit of a system that is not our own. */
  adminKey: string | null
}

/** For the command line: name -> what follows it, and what it is for. */
export const RUSH_OPTIONS = {
  url: {
    value: 'URL',
    help: 'The running system to rush. It must be one of yours: this is a load like on opening night.',
  },
  'own-system': {
    value: null,
    help: 'Start a system for the rush, with a big house and one show, and stop it afterwards.',
  },
  show: { value: 'ID', help: 'Which show, such as show_42; without it, the one with the most free seats.' },
  buyers: { value: 'N', help: 'Virtual buyers (10000).' },
  seconds: { value: 'N', help: 'In which they arrive, most of them at once (30).' },
  seed: { value: 'N', help: 'The same seed is the same crowd; without it, one is chosen and told.' },
  workers: { value: 'N', help: 'Processes that play the crowd (one for each core but one, at most 4).' },
  connections: { value: 'N', help: 'Connections kept open to the system, of all workers together (1000).' },
  processes: { value: 'N', help: 'Processes of the own system that answer (1).' },
  seats: { value: 'N', help: 'About how many seats the own system’s house has (2700).' },
  room: { value: 'N', help: 'Own system: a waiting room before the sale, with N buyers inside at a time (no room).' },
  'admin-key': { value: 'KEY', help: 'Lets the rush end with the audit of a system that is not its own.' },
  json: { value: null, help: 'The result as one JSON object, the last line of standard output.' },
  report: { value: 'FILE.html', help: 'Write the report with its charts to this file.' },
} as const

export type RushValues = { [name in keyof typeof RUSH_OPTIONS]?: string | boolean | undefined }

const SEED_MAX = 2 ** 31 - 1
const WORKERS_MAX = 4

/** Throws StartRefused with the option and what is allowed. `anySeed` is taken when none is given. */
export function readRushOrder(values: RushValues, anySeed: number): RushOrder {
  const own = values['own-system'] === true
  const text = (name: keyof RushValues) => (typeof values[name] === 'string' ? values[name] : null)
  const url = text('url')
  if (own === (url !== null))
    throw new StartRefused('Say what to rush: either --url http://... of a running system, or --own-system.')
  if (own && (values.show || values['admin-key']))
    throw new StartRefused('--show and --admin-key are for a running system (--url); a system of its own has its own.')
  if (!own && (values.processes || values.seats || values.room))
    throw new StartRefused('--processes, --seats and --room are for a system of its own (--own-system).')
  const report = text('report')
  if (report !== null && !report.endsWith('.html'))
    throw new StartRefused(`--report is "${report}", but must be a file that ends with .html.`)
  const spareCores = Math.max(1, Math.min(WORKERS_MAX, availableParallelism() - 1))
  const whole = (name: keyof RushValues, byDefault: number, min: number, max: number) =>
    readWhole(name, text(name), byDefault, min, max)
  const buyers = whole('buyers', 10_000, 1, 1_000_000)
  return {
    ...{
      url: url === null ? null : readUrl(url),
      showId: text('show'),
      adminKey: text('admin-key'),
      reportFile: report,
    },
    ...{ buyers, json: values.json === true },
    seconds: whole('seconds', 30, 1, 86_400),
    seed: whole('seed', anySeed, 0, SEED_MAX),
    workers: Math.min(whole('workers', spareCores, 1, 64), buyers),
    connections: whole('connections', 1_000, 1, 20_000),
    processes: whole('processes', 1, 1, 64),
    room: whole('room', 0, 0, 1_000_000),
    seats: whole('seats', 2_700, 20, 5_000),
  }
}

function readWhole(name: string, given: string | null, byDefault: number, min: number, max: number): number {
  if (given === null) return byDefault
  if (!/^\d{1,15}$/.test(given) || +given < min || +given > max)
    throw new StartRefused(`--${name} is "${given}", but must be a whole number from ${min} to ${max}.`)
  return +given
}

function readUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    throw new StartRefused(`--url is "${given}", but must be http(s)://host, such as http://localhost:3000.`)
  return given.replace(/\/+$/, '')
}
