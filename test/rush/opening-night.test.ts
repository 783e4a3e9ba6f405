// alone: opening night as it is meant: 5,000 buyers for 400 seats within seconds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { play, tell } from './play.ts'

const LIMIT_MS = 90_000
const BUYERS = process.env.HOLDFAST_TEST_LONG ? 20_000 : 5_000

test(`${BUYERS} buyers for 400 seats: nothing sold twice, the audit clean, in time`, async (t) => {
  const options = ['--own-system', '--buyers', String(BUYERS), '--seconds', '20', '--seats', '400', '--seed', '4711']
  const played = await play(t, options)
  tell(t, played)
  const { code, report, tookMs } = played
  assert.equal(code, 0)
  assert.deepEqual([report.ok, report.doubleSales, report.audit?.status, report.arrived], [true, 0, 'CLEAN', BUYERS])
  assert.ok(report.sold.seats > 0, 'nothing was sold')
  if (BUYERS === 5_000) assert.ok(tookMs < LIMIT_MS, `${Math.round(tookMs)} ms`)
})
