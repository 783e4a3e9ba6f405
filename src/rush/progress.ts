// The rush while it plays: one block that is redrawn in a terminal, a plain line now and then anywhere else.
import { addLatency, type Latency, newLatency, percentiles } from './latency.ts'
import type { Count, Tally } from './tally.ts'

export type Progress = { end(): void }

const REDRAW_MS = 250
const PLAIN_MS = 5_000
const BAR = 40
const ESC = '\u001b['

/** Reads `tally` until it is ended. `openingInMs` counts down before the opening. */
export function showProgress(
  out: NodeJS.WriteStream,
  tally: Tally,
  show: { buyers: number; seats: number },
  sinceOpeningMs: () => number,
): Progress {
  const live = out.isTTY === true
  let drawn = 0
  let before = { atMs: 0, requests: 0 }
  let perSecond = 0
  const timer = setInterval(draw, live ? REDRAW_MS : PLAIN_MS)

  return {
    end() {
      clearInterval(timer)
      if (live) draw()
    },
  }

  function draw(): void {
    measure()
    const lines = live ? block() : [plain()]
    // Up over what was drawn before, and each line cleared to its end.
    const up = live && drawn > 0 ? `${ESC}${drawn}A` : ''
    out.write(up + lines.map((line) => `${live ? `${ESC}2K` : ''}${line}\n`).join(''))
    drawn = lines.length
  }

  function measure(): void {
    const atMs = performance.now()
    const requests = [...tally.statuses.values()].reduce((sum, times) => sum + times, 0)
    if (before.atMs > 0) perSecond = Math.round(((requests - before.requests) / (atMs - before.atMs)) * 1000)
    before = { atMs, requests }
  }

  function figures() {
    const of = (name: Count) => tally.counts.get(name) ?? 0
    const all: Latency = newLatency()
    for (const latency of tally.latency.values()) addLatency(all, latency)
    const { p50Ms, p99Ms } = percentiles(all)
    const refused = [...tally.refusals].reduce(
      (sum, [name, times]) => (name.startsWith('hold ') ? sum + times : sum),
      0,
    )
    return { of, p50Ms, p99Ms, refused, paid: tally.outcomes.get('PAID') ?? 0, seconds: sinceOpeningMs() / 1000 }
  }

  function block(): string[] {
    const { of, p50Ms, p99Ms, refused, paid, seconds } = figures()
    const share = Math.min(1, of('seatsSold') / show.seats)
    const filled = Math.round(share * BAR)
    return [
      seconds < 0 ? `Doors open in ${(-seconds).toFixed(0)} s` : `${seconds.toFixed(0)} s after the opening`,
      `  arrived  ${of('arrived')} of ${show.buyers}      at home  ${of('home')}`,
      `  in the waiting room  ${of('inRoom')}      holding  ${of('holding')}      with tickets  ${paid}      watching  ${of('watchers')}`,
      `  holds refused  ${refused}      requests a second  ${perSecond}      p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms`,
      `  sold [${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${of('seatsSold')} of ${show.seats} seats`,
    ]
  }

  function plain(): string {
    const { of, p99Ms, refused, paid, seconds } = figures()
    return `${seconds.toFixed(0)} s: ${of('arrived')} arrived, ${of('inRoom')} in the room, ${of('holding')} holding, ${paid} with tickets, ${refused} refused, ${of('seatsSold')} of ${show.seats} seats sold, ${perSecond} requests/s, p99 ${p99Ms.toFixed(0)} ms`
  }
}
