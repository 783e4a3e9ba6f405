// The demonstration of two families is run as a person runs it: it must end well, in seconds.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const LIMIT_MS = 120_000

test('npm run demo:journey plays to its end: every step as it must', () => {
  const file = new URL('../../demo/journey.ts', import.meta.url).pathname
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: LIMIT_MS })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  assert.match(stdout, /Every step went as it must/)
  assert.doesNotMatch(stdout, /^ {2}NOT/m)
})
