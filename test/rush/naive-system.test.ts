// The control of the rush itself: against a system that looks and then saves it must find the seats sold twice, with no help of that system's books.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startNaiveSystem } from './naive-system.ts'
import { play, tell } from './play.ts'

const CROWD = ['--show', 'show_1', '--buyers', '250', '--seconds', '2', '--seed', '11']

test('look, then save: the rush finds seats sold twice, names them, and ends with 1', async (t) => {
  const played = await play(t, ['--url', await startNaiveSystem(t), ...CROWD])
  tell(t, played)
  const { code, report, said } = played
  assert.equal(code, 1)
  assert.equal(report.ok, false)
  assert.ok(report.doubleSales > 0, 'nothing was sold twice')
  assert.equal(report.findings.filter(({ kind }) => kind === 'SOLD_TWICE').length, report.doubleSales)
  assert.match(said, /Seat A\d+ is sold \d+ times: /)
  assert.match(said, /NOT well\.\n/)
})

test('a system that breaks: a 500 is told and ends with 1', async (t) => {
  const { code, report } = await play(t, ['--url', await startNaiveSystem(t, { breaks: true }), ...CROWD])
  assert.equal(code, 1)
  assert.ok((report.faults.serverErrors[500] ?? 0) > 0)
})
