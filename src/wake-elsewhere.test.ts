// Doors and workers that run apart: a sale behind one wakes the other over the database, and a rush does so a bounded number of times.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '#core/log.ts'
import { freshDatabase } from '#test/support/database.ts'
import { listenForWakes, wakeElsewhere } from './wake-elsewhere.ts'

test('a worker is woken by its name from another process; a thousand wishes in a moment are one', async (t) => {
  const db = await freshDatabase(t)
  const woken: string[] = []
  await listenForWakes(db.connect(1), (worker) => void woken.push(worker), createLog('fatal'))
  const wake = wakeElsewhere(db.connect(1))
  for (let wish = 0; wish < 1_000; wish++) wake('relay')
  wake('settle')
  for (let waited = 0; waited < 500 && woken.length < 2; waited++) await sleep(10)
  assert.deepEqual(woken.toSorted(), ['relay', 'settle'])
})
