// The report is one page that stands alone: well-formed, nothing from outside, its figures in words and tables beside every chart, names escaped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newHistory } from './history.ts'
import { htmlReport } from './html-report.ts'
import { noteLatency } from './latency.ts'
import { type Evening, type RushReport, summarise } from './report.ts'
import { readRushOrder } from './rush-order.ts'
import { count, newTally, noteAnswer } from './tally.ts'

test('nothing comes from outside, and there is no script', () => {
  const page = htmlReport(...evening())
  assert.doesNotMatch(page, /<script|<link|<img|<iframe|\bsrc=|\bhref=|url\(|@import|https?:|\/\/[a-z]/i)
})

test('every tag is closed in its order', () => {
  const open: string[] = []
  const page = htmlReport(...evening()).replace(/<style>[\s\S]*?<\/style>/, '')
  for (const [, closing, name = '', selfClosed] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:"[^"]*"|[^">])*?(\/?)>/g)) {
    if (selfClosed || ['meta', 'br'].includes(name)) continue
    if (closing) assert.equal(open.pop(), name)
    else open.push(name)
  }
  assert.deepEqual(open, [])
})

test('each chart has a title and a sentence, and its figures stand in a table', () => {
  const page = htmlReport(...evening())
  const charts = [...page.matchAll(/<svg [^>]*role="img"[^>]*aria-labelledby="([^"]+)"/g)]
  assert.equal(charts.length, 5)
  for (const [, ids = ''] of charts)
    for (const id of ids.split(' ')) assert.match(page, new RegExp(`<(title|desc) id="${id}">[^<]+<`))
  for (const caption of [
    'Answers by second',
    'Seats sold by second',
    'Milliseconds',
    'Refusals at every door',
    'Buyers',
  ])
    assert.match(page, new RegExp(`<caption>${caption}</caption>`))
  assert.match(page, /<tr><th scope="row">hold SEATS_UNAVAILABLE<\/th><td>2<\/td><\/tr>/)
  assert.match(page, /<title>A1: sold after 2 s<\/title>/)
  assert.match(page, /<title>A2: not sold<\/title>/)
})

test('a title cannot break out of the page; findings are said at the top', () => {
  const [report, scene] = evening()
  report.show.title = '</title><script>alert(1)</script>'
  report.ok = false
  report.findings.push({ kind: 'SOLD_TWICE', sentence: 'Seat A1 is sold 2 times: <a>, b.' })
  const page = htmlReport(report, scene)
  assert.doesNotMatch(page, /<script/)
  assert.match(page, /<li>Seat A1 is sold 2 times: &lt;a&gt;, b\.<\/li>/)
  assert.match(page, /class="verdict unwell"[^>]*>Not well: 1 findings/)
})

test('a 500 makes it not well, as does an audit with findings or one that was wanted and not had; a 503 does not', () => {
  const ok = (change: (scene: Evening) => void) => {
    const [, scene] = evening()
    change(scene)
    return summarise(scene).ok
  }
  assert.equal(
    ok(() => {}),
    true,
  )
  assert.equal(
    ok(({ tally }) => count(tally.statuses, 503)),
    true,
  )
  assert.equal(
    ok(({ tally }) => count(tally.statuses, 500)),
    false,
  )
  assert.equal(
    ok((scene) => Object.assign(scene, { audit: null })),
    false,
  )
  assert.equal(
    ok((scene) => scene.audit?.findings.push({ invariant: 'x', sentence: 'y', rows: [] })),
    false,
  )
})

function evening(): [RushReport, Evening] {
  const tally = newTally()
  const history = newHistory()
  for (const [second, status, code] of [
    [0, 409, 'SEATS_UNAVAILABLE'],
    [0, 409, 'SEATS_UNAVAILABLE'],
    [1, 201, null],
  ] as const)
    noteAnswer(tally, 'hold', { status, code, ms: 12 }, second)
  noteLatency(tally.confirmation, 700)
  count(tally.outcomes, 'PAID')
  count(tally.counts, 'arrived')
  tally.soldPerSecond.set(2, 1)
  const seen = {
    buyer: 0,
    holdId: 'hold',
    bookingId: 'book',
    seats: ['A1'],
    amountMinor: 1_000,
    paid: true,
    cancelled: false,
  }
  history.holds.push({ ...seen, sentMs: 1_000, gotMs: 1_010, aliveUntilMs: 21_000, endedMs: null, confirmedMs: 2_500 })
  history.bookings.push({
    ...seen,
    status: 'CONFIRMED',
    capturedMinor: 1_000,
    refundedMinor: 0,
    tickets: 1,
    settled: true,
  })
  const seat = (code: string, x: number) => ({ code, x, row: 'A', y: 0, category: 'STALLS', status: 'AVAILABLE' })
  const map = { showtimeId: 'show_1', asOf: '', currency: 'EUR', seats: [seat('A1', 0), seat('A2', 1)] }
  const scene: Evening = {
    order: readRushOrder({ url: 'http://localhost', 'admin-key': 'key' }, 1),
    ...{
      show: { id: 'show_1', title: 'Tár & co', map },
      tally,
      history,
      openingMs: 0,
      elapsedMs: 3_000,
      endedEarly: false,
    },
    bookedAtEnd: new Set(['A1']),
    audit: { status: 'CLEAN', asOf: '2026-12-01T20:00:00Z', checkedMs: 5, invariants: 24, counts: {}, findings: [] },
    auditMissing: null,
  }
  return [summarise(scene), scene]
}
