// Plays the opening night of one show against a running system: looks around, lets the crowd in, waits until it is home, and judges what happened.
import { writeFileSync } from 'node:fs'
import { StartRefused } from '#database/start-refused.ts'
import { buildHouse } from './build-house.ts'
import type { Audit, SeatStatuses } from './contract.ts'
import { startCrowdProcesses } from './crowd-processes.ts'
import type { History } from './history.ts'
import { htmlReport } from './html-report.ts'
import { openRoom } from './open-room.ts'
import { startOwnSystem } from './own-system.ts'
import { showProgress } from './progress.ts'
import { type Evening, type RushReport, summarise } from './report.ts'
import type { RushOrder } from './rush-order.ts'
import { type Show, scoutShow } from './scout-show.ts'
import { addTally, newTally } from './tally.ts'
import { monotonicMs, openWire, type Wire } from './wire.ts'

// Long enough for every process of the crowd to have planned its buyers.
const DOORS_OPEN_IN_MS = 2_000
const SCOUT_CONNECTIONS = 4
// The system drops a connection that is silent for longer.
const AUDIT_MAX_MS = 60_000

/** `stopped`: somebody wants it to end early; the audit comes all the same. StartRefused when there is nothing to rush. */
export async function rush(order: RushOrder, stopped: AbortSignal): Promise<RushReport> {
  const say = (sentence: string) => process.stderr.write(`${sentence}\n`)
  if (order.url !== null) return play({ ...order, url: order.url }, stopped)
  say('Starting a Holdfast of its own ...')
  const system = await startOwnSystem(order.processes)
  try {
    const wire = scoutWire(system.url)
    const showId = await buildHouse(wire, system.adminKey, order.seats)
    if (order.room > 0) await openRoom(wire, system.adminKey, showId, order.room)
    wire.close()
    say(`The house is built: ${system.url}, ${showId}.`)
    return await play({ ...order, url: system.url, showId, adminKey: system.adminKey }, stopped)
  } finally {
    await system.close()
  }
}

async function play(order: RushOrder & { url: string }, stopped: AbortSignal): Promise<RushReport> {
  const { adminKey } = order
  const wire = scoutWire(order.url)
  try {
    const show = await scoutShow(wire, order.url, order.showId)
    if (adminKey !== null) await checkAdminKey(wire, adminKey)
    const evening = await playEvening(order, show, stopped)
    const bookedAtEnd = await readBooked(wire, show)
    const { audit, auditMissing } = await askAudit(wire, adminKey)
    const complete: Evening = { ...evening, order, show, bookedAtEnd, audit, auditMissing }
    const report = summarise(complete)
    if (order.reportFile) writeFileSync(order.reportFile, htmlReport(report, complete))
    return report
  } finally {
    wire.close()
  }
}

type Played = Pick<Evening, 'tally' | 'history' | 'openingMs' | 'elapsedMs' | 'endedEarly'>

async function playEvening(order: RushOrder & { url: string }, show: Show, stopped: AbortSignal): Promise<Played> {
  const { url, seed, buyers, seconds, workers } = order
  const openingMs = monotonicMs() + DOORS_OPEN_IN_MS
  const tally = newTally()
  const orders = Array.from({ length: workers }, (_, share) => ({
    ...{ url, seed, buyers, seconds, share, openingMs, of: workers },
    ...{ showId: show.id, seats: show.map.seats, roomOn: show.roomOn || order.room > 0 },
    connections: Math.max(1, Math.floor(order.connections / workers)),
  }))
  const sinceOpeningMs = () => monotonicMs() - openingMs
  // When the last one went home; reading the bookings once more afterwards is no part of the evening.
  let homeMs = 1
  const crowd = startCrowdProcesses(orders, (counted) => {
    addTally(tally, counted)
    if (counted.counts.get('home')) homeMs = Math.max(homeMs, sinceOpeningMs())
  })
  const progress = showProgress(process.stderr, tally, { buyers, seats: show.map.seats.length }, sinceOpeningMs)
  const stop = () => crowd.stop()
  stopped.addEventListener('abort', stop)
  if (stopped.aborted) stop()
  try {
    const history: History = await crowd.ended
    return { tally, history, openingMs, elapsedMs: homeMs, endedEarly: stopped.aborted }
  } finally {
    stopped.removeEventListener('abort', stop)
    progress.end()
  }
}

function scoutWire(url: string): Wire {
  const unread = newTally()
  return openWire(url, SCOUT_CONNECTIONS, () => unread, monotonicMs())
}

async function readBooked(wire: Wire, show: Show): Promise<Set<string> | null> {
  const reply = await wire.ask('map', `/v1/showtimes/${show.id}/seats?view=status`)
  if (reply.status !== 200) return null
  const { statuses } = reply.read<SeatStatuses>()
  return new Set(show.map.seats.filter((_, place) => statuses[place] === 'B').map(({ code }) => code))
}

// Beforehand: nobody wants to play an evening and learn afterwards that it cannot be audited.
async function checkAdminKey(wire: Wire, adminKey: string): Promise<void> {
  const reply = await wire.ask('booking', '/v1/admin/bookings?limit=1', asAdmin(adminKey))
  if (reply.status !== 200) throw new StartRefused(`The --admin-key is refused (${reply.code ?? reply.status}).`)
}

function asAdmin(adminKey: string): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${adminKey}` } }
}

async function askAudit(wire: Wire, adminKey: string | null): Promise<Pick<Evening, 'audit' | 'auditMissing'>> {
  if (adminKey === null) return { audit: null, auditMissing: 'it needs --admin-key.' }
  const reply = await wire.ask('booking', '/v1/admin/audit', { ...asAdmin(adminKey), patienceMs: AUDIT_MAX_MS })
  if (reply.status !== 200) return { audit: null, auditMissing: `the system answered ${reply.status || 'nothing'}.` }
  return { audit: reply.read<Audit>(), auditMissing: null }
}
