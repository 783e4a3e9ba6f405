// The report as one page that needs nothing else: figures, charts with their tables beside them, the house. For light and dark, and without a script.
import { formatMoney } from '#core/money.ts'
import { escapeHtml } from '#core/page.ts'
import { bars, ranges, type Series, stackedColumns, stepLine } from './charts.ts'
import { houseMap, secondsOfSale } from './house-map.ts'
import { KIND_WORDS, OUTCOME_WORDS } from './print-report.ts'
import type { Evening, RushReport } from './report.ts'
import { REPORT_STYLE } from './report-style.ts'
import type { Kind } from './tally.ts'

// Eight colours can be told apart; giving something back is one of them.
const GROUPS: { name: string; kinds: Kind[] }[] = [
  { name: 'map', kinds: ['map'] },
  { name: 'hold', kinds: ['hold'] },
  { name: 'session', kinds: ['session'] },
  { name: 'check out', kinds: ['checkout'] },
  { name: 'pay', kinds: ['pay'] },
  { name: 'read one’s booking', kinds: ['booking'] },
  { name: 'waiting room', kinds: ['room'] },
  { name: 'release or cancel', kinds: ['release', 'cancel'] },
]
const COLUMNS_MAX = 120
const CHART_HEIGHT = 300
const FINDINGS_SHOWN = 100

export function htmlReport(
  report: RushReport,
  { show, history, openingMs }: Pick<Evening, 'show' | 'history' | 'openingMs'>,
): string {
  const { seconds, columns, sold } = binned(report)
  const house = houseMap(show.map.seats, secondsOfSale(history, openingMs))
  const refusals = Object.entries(report.holds.refusals).map(([name, value]) => ({ name, value }))
  const kinds = Object.entries(report.requests.kinds).map(([kind, figures]) => ({
    name: KIND_WORDS[kind] ?? kind,
    figures,
  }))
  const title = `Rush on ${report.show.title}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p class="verdict ${report.ok ? 'well' : 'unwell'}" role="status">${report.ok ? 'All is well: no seat was sold twice, and the books are even.' : `Not well: ${report.findings.length} findings in what the buyers saw, ${report.audit?.findings.length ?? 0} by the audit, ${Object.values(report.faults.serverErrors).reduce((sum, n) => sum + n, 0)} server errors.`}</p>
${figures(report)}
${findings(report)}
<section><h2>Requests a second</h2>
${legend(columns.map(({ name, tone }) => ({ name, mark: `tone${tone}` })))}
${stackedColumns({ title: 'Requests a second', description: 'Answers in each second after the opening, by what was asked.', height: CHART_HEIGHT }, seconds, columns)}
${table(
  'Answers by second',
  ['Second', ...columns.map(({ name }) => name)],
  seconds.map((second, at) => [second, ...columns.map(({ values }) => values[at] ?? 0)]),
)}
</section>
<section><h2>Seats sold</h2>
${stepLine({ title: 'Seats sold', description: `Seats sold by each second after the opening, of ${report.show.seats}. Cancelled ones are not taken off again.`, height: CHART_HEIGHT }, seconds, sold, Math.max(report.show.seats, sold.at(-1) ?? 0))}
${table(
  'Seats sold by second',
  ['Second', 'Seats sold until then'],
  seconds.map((second, at) => [second, sold[at] ?? 0]),
)}
</section>
<section><h2>The house</h2>
${legend(house.steps.map(({ name, tone, seats }) => ({ name: `${name}: ${seats}`, mark: `seat${tone}` })))}
${house.picture}
</section>
<section><h2>How long answers took</h2>
${legend([
  { name: 'p50', mark: 'tone1' },
  { name: 'p95', mark: 'tone3' },
  { name: 'p99', mark: 'tone6' },
  { name: 'up to the slowest', mark: 'range-mark' },
])}
${ranges(
  {
    title: 'How long answers took',
    description:
      'For each kind of request the percentiles in milliseconds, on a logarithmic scale, waits for a free connection included.',
  },
  kinds.map(({ name, figures: f }) => ({ name, marks: [f.p50Ms, f.p95Ms, f.p99Ms, f.maxMs] })),
)}
${table(
  'Milliseconds',
  ['Request', 'Answers', 'p50', 'p95', 'p99', 'Slowest'],
  kinds.map(({ name, figures: f }) => [name, f.answers, f.p50Ms, f.p95Ms, f.p99Ms, f.maxMs]),
  true,
)}
</section>
<section><h2>Holds refused, by reason</h2>
${refusals.length === 0 ? '<p>None.</p>' : bars({ title: 'Holds refused by reason', description: 'How many attempts to hold were refused with each code.' }, refusals)}
${table('Refusals at every door', ['Reason', 'Times'], [...refusals.map(({ name, value }) => [`hold ${name}`, value]), ...Object.entries(report.otherRefusals)], true)}
</section>
<section><h2>What became of the buyers</h2>
${table(
  'Buyers',
  ['Outcome', 'Buyers'],
  Object.entries(report.outcomes).map(([name, times]) => [OUTCOME_WORDS[name] ?? name, times]),
  true,
)}
</section>
<p class="soft">Seed ${report.seed}: the same seed plays the same crowd.${report.audit ? ` Audited as of ${escapeHtml(report.audit.asOf)}.` : ''}</p>
</main>
</body>
</html>
`
}

function figures({
  arrived,
  seconds,
  holds,
  sold,
  show,
  doubleSales,
  money,
  requests,
  audit,
  auditMissing,
}: RushReport): string {
  const amount = (minor: number) => formatMoney({ amount: minor, currency: money.currency })
  const pairs: [string, string][] = [
    ['Buyers', `${arrived} in ${seconds} s`],
    ['Attempts to hold', String(holds.attempts)],
    ['Wins', String(holds.wins)],
    ['Seats sold', `${sold.seats} of ${show.seats}`],
    ['Seats sold twice', String(doubleSales)],
    ['Money kept', `${amount(money.keptMinor)} of ${amount(money.dueMinor)} due`],
    ['Requests', `${requests.total}, at most ${requests.perSecondPeak} a second`],
    [
      'Audit',
      audit ? `${audit.findings.length} findings of ${audit.invariants} invariants` : `none: ${auditMissing ?? ''}`,
    ],
  ]
  return `<dl class="figures">${pairs.map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`).join('')}</dl>`
}

function findings({ findings: seen, audit }: RushReport): string {
  const all = [
    ...seen.map(({ sentence }) => sentence),
    ...(audit?.findings.map(({ invariant, sentence }) => `${invariant}: not so: ${sentence}`) ?? []),
  ]
  if (all.length === 0) return ''
  return `<section><h2>Findings</h2><ul>${all
    .slice(0, FINDINGS_SHOWN)
    .map((sentence) => `<li>${escapeHtml(sentence)}</li>`)
    .join('')}</ul></section>`
}

function legend(entries: { name: string; mark: string }[]): string {
  return `<ul class="legend">${entries.map(({ name, mark }) => `<li><svg viewBox="0 0 12 12" aria-hidden="true"><circle class="${mark}" cx="6" cy="6" r="5"/></svg>${escapeHtml(name)}</li>`).join('')}</ul>`
}

// Tables of every second are folded away: they are there for whoever cannot see the chart, or wants its figures.
function table(caption: string, heads: string[], rows: (string | number)[][], open = false): string {
  const body = rows.map(
    ([first = '', ...cells]) =>
      `<tr><th scope="row">${escapeHtml(String(first))}</th>${cells.map((cell) => `<td>${escapeHtml(String(cell))}</td>`).join('')}</tr>`,
  )
  return `<details${open ? ' open' : ''}><summary>${escapeHtml(caption)}, as a table</summary><div class="wide"><table><caption>${escapeHtml(caption)}</caption><thead><tr>${heads.map((head) => `<th scope="col">${escapeHtml(head)}</th>`).join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div></details>`
}

// A long evening has more seconds than a chart has room for columns: then each is the average of a few.
function binned({ perSecond }: RushReport): { seconds: number[]; columns: Series[]; sold: number[] } {
  const width = Math.max(1, Math.ceil(perSecond.length / COLUMNS_MAX))
  const bins = Array.from({ length: Math.ceil(perSecond.length / width) }, (_, at) =>
    perSecond.slice(at * width, (at + 1) * width),
  )
  const columns = GROUPS.map(({ name, kinds }, index) => ({
    ...{ name, tone: index + 1 },
    values: bins.map((bin) =>
      Math.round(
        bin.reduce((sum, { requests }) => sum + kinds.reduce((part, kind) => part + (requests[kind] ?? 0), 0), 0) /
          bin.length,
      ),
    ),
  })).filter(({ values }) => values.some((value) => value > 0))
  let soldSoFar = 0
  const sold = bins.map((bin) => {
    soldSoFar += bin.reduce((sum, { soldSeats }) => sum + soldSeats, 0)
    return soldSoFar
  })
  return { seconds: bins.map((_, at) => at * width), columns, sold }
}
