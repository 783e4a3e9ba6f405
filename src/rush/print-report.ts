// The end of a rush as a person reads it in a terminal.
import { formatMoney } from '#core/money.ts'
import type { Percentiles } from './latency.ts'
import type { RushReport } from './report.ts'

const FINDINGS_SHOWN = 10

export const KIND_WORDS: Record<string, string> = {
  session: 'open a session',
  room: 'waiting room',
  map: 'look at the map',
  hold: 'hold seats',
  release: 'release a hold',
  checkout: 'check out',
  pay: 'pay or decline',
  booking: 'read one’s booking',
  cancel: 'cancel',
}

export const OUTCOME_WORDS: Record<string, string> = {
  PAID: 'went home with tickets',
  PAID_LATE: 'paid too late, money back',
  DECLINED: 'card declined',
  LEFT: 'left the payment page',
  LAPSED: 'let the hold run out',
  RELEASED: 'released their seats',
  CANCELLED: 'bought and cancelled',
  UNPAID: 'could not pay',
  SOLD_OUT: 'found nothing left',
  GAVE_UP: 'gave up after some tries',
  LIMITED: 'tried too often',
  SHUT_OUT: 'stayed in the waiting room',
  CLOSED: 'sale was closed',
  OVERLOADED: 'sent away: too full',
  NO_SESSION: 'never got in',
}

/** Many lines, none at the end. */
export function printReport(report: RushReport): string {
  const { holds, requests, sold, money, confirmation, faults } = report
  const amount = (minor: number) => formatMoney({ amount: minor, currency: money.currency })
  return [
    `Rush on ${report.show.title} (${report.show.id}), seed ${report.seed}${report.endedEarly ? ', ended early' : ''}`,
    '',
    row(
      'buyers',
      `${report.arrived} came within ${report.seconds} s; all were home after ${(report.elapsedMs / 1000).toFixed(1)} s`,
    ),
    row('requests', `${requests.total}, ${requests.perSecond} a second, ${requests.perSecondPeak} in the busiest`),
    row('attempts to hold', `${holds.attempts}`),
    row('wins', `${holds.wins}`),
    row('refused', `${holds.attempts === 0 ? 'none' : listed(holds.refusals)}`),
    row('other refusals', listed(report.otherRefusals)),
    row(
      'seats sold',
      `${sold.seats} of ${report.show.seats} (${(sold.share * 100).toFixed(1)} %) in ${sold.bookings} bookings`,
    ),
    row('seats sold twice', String(report.doubleSales)),
    row('money due', amount(money.dueMinor)),
    row(
      'money kept',
      `${amount(money.keptMinor)}: ${amount(money.capturedMinor)} captured, ${amount(money.refundedMinor)} refunded${money.unsettled ? `; ${money.unsettled} payments are still on their way` : ''}`,
    ),
    row('paid to confirmed', `${timing(confirmation)}`),
    ...(report.watching.changesSeen > 0
      ? [row('live stream', `${report.watching.changesSeen} changes seen, ${report.watching.outOfOrder} out of order`)]
      : []),
    row('server errors', listed(faults.serverErrors)),
    row('unanswered', String(faults.unanswered)),
    '',
    'What became of them',
    ...Object.entries(report.outcomes).map(([name, times]) => row(OUTCOME_WORDS[name] ?? name, String(times))),
    '',
    `${'milliseconds'.padEnd(26)}${['answers', 'p50', 'p95', 'p99', 'max'].map((name) => name.padStart(10)).join('')}`,
    ...Object.entries(requests.kinds).map(([kind, figures]) => latencyRow(KIND_WORDS[kind] ?? kind, figures)),
    '',
    ...verdict(report),
  ].join('\n')
}

function verdict({ audit, auditMissing, findings, ok }: RushReport): string[] {
  const shown = findings.slice(0, FINDINGS_SHOWN).map(({ sentence }) => `  ${sentence}`)
  const more = findings.length > FINDINGS_SHOWN ? [`  and ${findings.length - FINDINGS_SHOWN} more`] : []
  return [
    findings.length === 0
      ? 'What the buyers saw fits together: no seat sold twice, none held for two at a time.'
      : 'What the buyers saw does not fit together:',
    ...shown,
    ...more,
    audit
      ? `The audit checked ${audit.invariants} invariants: ${audit.findings.length === 0 ? 'no findings' : `${audit.findings.length} do not hold`}.`
      : `No audit: ${auditMissing}`,
    ...(audit?.findings.map(
      ({ invariant, sentence, rows }) => `  ${invariant}: not so: ${sentence} (${rows.length} rows)`,
    ) ?? []),
    ok ? 'All is well.' : 'NOT well.',
  ]
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(28)}${value}`
}

function listed(counts: Record<string, number>): string {
  const entries = Object.entries(counts)
  return entries.length === 0 ? 'none' : entries.map(([name, times]) => `${times} ${name}`).join(', ')
}

function timing({ answers, p50Ms, p95Ms, maxMs }: Percentiles): string {
  return answers === 0
    ? 'nobody paid'
    : `p50 ${Math.round(p50Ms)} ms, p95 ${Math.round(p95Ms)} ms, max ${Math.round(maxMs)} ms`
}

function latencyRow(name: string, { answers, p50Ms, p95Ms, p99Ms, maxMs }: Percentiles): string {
  return `  ${name.padEnd(24)}${[String(answers), ...[p50Ms, p95Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1))].map((cell) => cell.padStart(10)).join('')}`
}
