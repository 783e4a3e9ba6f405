// A small opening night from the command to the report: a system of its own, 300 buyers, nothing sold twice, the audit clean.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { play, tell } from './play.ts'

test('300 buyers, 200 seats: all are home, nothing is sold twice, the audit finds nothing, the report says so', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'rush-report-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'rush.html')
  const played = await play(t, [
    '--own-system',
    '--buyers',
    '300',
    '--seconds',
    '5',
    '--seats',
    '200',
    '--seed',
    '7',
    '--report',
    file,
  ])
  tell(t, played)
  const { code, report } = played
  assert.equal(code, 0)
  assert.equal(report.name, 'rush')
  assert.deepEqual([report.ok, report.doubleSales, report.findings, report.faults.serverErrors], [true, 0, [], {}])
  assert.deepEqual([report.audit?.status, report.audit?.findings], ['CLEAN', []])
  assert.deepEqual([report.buyers, report.arrived, report.seed, report.endedEarly], [300, 300, 7, false])
  assert.equal(
    Object.values(report.outcomes).reduce((sum, buyers) => sum + buyers, 0),
    300,
  )
  const refused = Object.values(report.holds.refusals).reduce((sum, times) => sum + times, 0)
  assert.ok(report.holds.attempts >= report.holds.wins + refused - report.faults.unanswered)
  assert.ok(refused > 0, 'nobody was refused: there was no rush')
  assert.ok(report.sold.seats > 0 && report.sold.seats <= report.show.seats)
  const { money } = report
  assert.deepEqual([money.unsettled, money.keptMinor], [0, money.dueMinor])
  for (const figures of Object.values(report.requests.kinds))
    assert.ok(figures.p50Ms <= figures.p95Ms && figures.p95Ms <= figures.p99Ms && figures.p99Ms <= figures.maxMs)
  assertReport(file, report.sold.seats)
})

test('Ctrl-C sends everybody home early, and the audit comes all the same', async (t) => {
  const options = ['--own-system', '--buyers', '2000', '--seconds', '600', '--seats', '100', '--seed', '7']
  const played = await play(t, options, (child) => {
    child.stderr?.on('data', (text: string) => {
      if (/ arrived, /.test(text)) child.kill('SIGINT')
    })
  })
  const { code, report, tookMs } = played
  assert.deepEqual([code, report.endedEarly, report.audit?.status], [0, true, 'CLEAN'])
  assert.ok(report.arrived > 0 && report.arrived < 2_000)
  assert.ok(tookMs < 120_000, `${tookMs} ms`)
})

function assertReport(file: string, soldSeats: number): void {
  assert.ok(existsSync(file))
  const page = readFileSync(file, 'utf8')
  assert.match(page, /^<!doctype html>\n<html lang="en">/)
  assert.match(page, new RegExp(`<dt>Seats sold</dt><dd>${soldSeats} of \\d+</dd>`))
  assert.equal(page.match(/<circle class="seat\d"[^>]*><title>[A-Z]-[A-Z]+\d+: sold/g)?.length, soldSeats)
}
