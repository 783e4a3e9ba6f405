// What a person types is understood, or refused in one sentence with code 1.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.url))
const COMMANDS = ['start', 'serve', 'worker', 'migrate', 'import', 'audit', 'rush', 'config', 'help']

function holdfast(...args: string[]): { code: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  return { code: status, said: stdout + stderr }
}

test('help lists every command, and each has help of its own', () => {
  for (const way of [['help'], ['--help'], []]) {
    const { code, said } = holdfast(...way)
    assert.equal(code, 0)
    for (const command of COMMANDS) assert.match(said, new RegExp(`^  ${command}\\b`, 'm'), command)
  }
  assert.match(holdfast('import', '--help').said, /^holdfast import cinema-feed FILE\n\n\S/)
  assert.match(holdfast('rush', '--help').said, /^holdfast rush .*\n\n\S.*\n\n {2}--url URL +\S/)
})

test('config prints the table of variables', () => {
  const { code, said } = holdfast('config')
  assert.equal(code, 0)
  assert.match(said, /\| HOLD_TTL_MS +\| 600000 +\|/)
})

test('what is not understood is one sentence and code 1', () => {
  const cases: [string[], RegExp][] = [
    [['sell'], /^There is no command "sell"; holdfast help shows those there are\.\n$/],
    [['start', '--port', '5'], /^There is no option --port; /],
    [['rush', '--speed', '5'], /^There is no option --speed; /],
    [['rush', '--own-system', '--buyers'], /^--buyers needs a value: --buyers N\n$/],
    [['rush', '--own-system=yes'], /^--own-system takes no value\.\n$/],
    [['import'], /^Say what to import: /],
    [['import', 'airline-feed', 'x'], /^Say what to import: /],
    [['import', 'cinema-feed', '/no/such/file'], /^\/no\/such\/file cannot be read \(ENOENT\)\.\n$/],
  ]
  for (const [args, sentence] of cases) {
    const { code, said } = holdfast(...args)
    assert.equal(code, 1, said)
    assert.match(said, sentence)
  }
})
