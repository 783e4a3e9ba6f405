// The whole repository fits its types and its style.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

function check(program: string, ...args: string[]): void {
  const done = spawnSync(process.execPath, [program, ...args], { cwd: ROOT, encoding: 'utf8' })
  assert.equal(done.status, 0, `${done.stdout}\n${done.stderr}`)
}

test('the types fit', () => check('node_modules/typescript/bin/tsc', '-p', '.'))

test('the style fits', () =>
  check('node_modules/@biomejs/biome/bin/biome', 'check', '--colors=off', '--max-diagnostics=8', '.'))
