// The race is run as a person runs it: look-then-save must sell a seat twice, or the demonstration shows nothing; Holdfast must not.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const LIMIT_MS = 120_000

test('npm run demo:race: look-then-save sells seats twice, Holdfast sells each exactly once', () => {
  const file = new URL('../../demo/race.ts', import.meta.url).pathname
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: LIMIT_MS })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  assert.match(stdout, /^Look, then save .* sold more than once +[1-9]/m)
  assert.match(stdout, /^Holdfast +200 sales of 200 seats +sold more than once +0 /m)
})
