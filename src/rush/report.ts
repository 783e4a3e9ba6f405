// What a rush says in the end: one object, from which the table, the JSON and the page with charts are made.
import { checkHistory, countSoldTwice, type HistoryFinding } from './check-history.ts'
import type { Audit, SeatMap } from './contract.ts'
import type { History } from './history.ts'
import { type Percentiles, percentiles } from './latency.ts'
import type { RushOrder } from './rush-order.ts'
import { KINDS, type Kind, type Tally } from './tally.ts'

export type RushReport = {
  name: 'rush'
  /** Nothing was sold twice, the books are even, and nothing broke. */
  ok: boolean
  show: { id: string; title: string; seats: number }
  buyers: number
  arrived: number
  seconds: number
  seed: number
  elapsedMs: number
  endedEarly: boolean
  requests: { total: number; perSecond: number; perSecondPeak: number; kinds: Partial<Record<Kind, Percentiles>> }
  holds: { attempts: number; wins: number; refusals: Record<string, number> }
  /** Of the other doors: `checkout HOLD_EXPIRED`. */
  otherRefusals: Record<string, number>
  outcomes: Record<string, number>
  sold: { seats: number; bookings: number; share: number }
  doubleSales: number
  findings: HistoryFinding[]
  money: {
    currency: string
    dueMinor: number
    capturedMinor: number
    refundedMinor: number
    keptMinor: number
    unsettled: number
  }
  confirmation: Percentiles
  watching: { changesSeen: number; outOfOrder: number }
  faults: { serverErrors: Record<string, number>; unanswered: number }
  /** Null: it was not asked for, or could not be had; `why` says which. */
  audit: {
    status: Audit['status']
    invariants: number
    checkedMs: number
    asOf: string
    findings: Audit['findings']
  } | null
  auditMissing: string | null
  perSecond: { second: number; requests: Partial<Record<Kind, number>>; soldSeats: number }[]
}

export type Evening = {
  order: RushOrder
  show: { id: string; title: string; map: SeatMap }
  tally: Tally
  history: History
  openingMs: number
  elapsedMs: number
  endedEarly: boolean
  /** Null: the map could not be read any more. */
  bookedAtEnd: Set<string> | null
  audit: Audit | null
  auditMissing: string | null
}

export function summarise({ order, show, tally, history, bookedAtEnd, audit, ...rest }: Evening): RushReport {
  const findings = checkHistory(history, bookedAtEnd)
  const doubleSales = countSoldTwice(findings)
  const serverErrors = Object.fromEntries(
    [...tally.statuses].filter(([status]) => status >= 500 && status !== 503).map(([status, times]) => [status, times]),
  )
  const confirmed = history.bookings.filter(({ status }) => status === 'CONFIRMED')
  const seats = confirmed.reduce((sum, booking) => sum + booking.seats.length, 0)
  const total = [...tally.statuses.values()].reduce((sum, times) => sum + times, 0)
  const perSecond = series(tally)
  const inEvening = perSecond
    .filter(({ second }) => second * 1000 < rest.elapsedMs)
    .reduce((sum, one) => sum + requestsIn(one), 0)
  const refusals = (ofHolds: boolean) =>
    Object.fromEntries(
      [...tally.refusals]
        .filter(([name]) => name.startsWith('hold ') === ofHolds)
        .sort(([, a], [, b]) => b - a)
        .map(([name, times]) => [ofHolds ? name.slice('hold '.length) : name, times]),
    )
  return {
    name: 'rush',
    // An audit that was asked for and not had proves nothing.
    ok:
      findings.length === 0 &&
      Object.keys(serverErrors).length === 0 &&
      (audit === null ? order.adminKey === null : audit.findings.length === 0),
    show: { id: show.id, title: show.title, seats: show.map.seats.length },
    buyers: order.buyers,
    arrived: tally.counts.get('arrived') ?? 0,
    seconds: order.seconds,
    seed: order.seed,
    elapsedMs: Math.round(rest.elapsedMs),
    endedEarly: rest.endedEarly,
    requests: {
      total,
      perSecond: Math.round(inEvening / (rest.elapsedMs / 1000)),
      perSecondPeak: Math.max(0, ...perSecond.map(requestsIn)),
      kinds: Object.fromEntries(KINDS.flatMap((kind) => kindOf(tally, kind))),
    },
    holds: { attempts: tally.latency.get('hold')?.answers ?? 0, wins: history.holds.length, refusals: refusals(true) },
    otherRefusals: refusals(false),
    outcomes: Object.fromEntries([...tally.outcomes].sort(([, a], [, b]) => b - a)),
    sold: { seats, bookings: confirmed.length, share: Math.round((seats / show.map.seats.length) * 1000) / 1000 },
    doubleSales,
    findings,
    money: moneyOf(history, show.map.currency),
    confirmation: percentiles(tally.confirmation),
    watching: {
      changesSeen: tally.counts.get('changesSeen') ?? 0,
      outOfOrder: tally.counts.get('changesOutOfOrder') ?? 0,
    },
    faults: { serverErrors, unanswered: tally.counts.get('unanswered') ?? 0 },
    audit: audit && {
      ...{ status: audit.status, invariants: audit.invariants, checkedMs: audit.checkedMs, asOf: audit.asOf },
      findings: audit.findings,
    },
    auditMissing: rest.auditMissing,
    perSecond,
  }
}

function kindOf(tally: Tally, kind: Kind): [Kind, Percentiles][] {
  const latency = tally.latency.get(kind)
  return latency ? [[kind, percentiles(latency)]] : []
}

function moneyOf({ bookings }: History, currency: string): RushReport['money'] {
  const sum = (of: typeof bookings, part: 'amountMinor' | 'capturedMinor' | 'refundedMinor') =>
    of.reduce((total, booking) => total + booking[part], 0)
  const [capturedMinor, refundedMinor] = [sum(bookings, 'capturedMinor'), sum(bookings, 'refundedMinor')]
  const due = bookings.filter(({ status }) => status === 'CONFIRMED')
  return {
    ...{ currency, dueMinor: sum(due, 'amountMinor'), capturedMinor, refundedMinor },
    keptMinor: capturedMinor - refundedMinor,
    unsettled: bookings.filter(({ paid, settled }) => paid && !settled).length,
  }
}

export function requestsIn({ requests }: RushReport['perSecond'][number]): number {
  return Object.values(requests).reduce((sum, times) => sum + times, 0)
}

// Every second from the opening to the last answer, also those in which nothing happened.
function series({ perSecond, soldPerSecond }: Tally): RushReport['perSecond'] {
  const rows: RushReport['perSecond'] = []
  const rowOf = (second: number) => {
    while (rows.length <= second) rows.push({ second: rows.length, requests: {}, soldSeats: 0 })
    return rows[second] as RushReport['perSecond'][number]
  }
  for (const [name, times] of perSecond) {
    const [second = '0', kind] = name.split(' ')
    rowOf(Number(second)).requests[kind as Kind] = times
  }
  for (const [second, seats] of soldPerSecond) rowOf(second).soldSeats = seats
  return rows
}
