// tools/run.mjs stands in for the program it runs, and says in one sentence why it cannot.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const TOOLS = fileURLToPath(new URL('../../tools', import.meta.url))
const TELLS_ITS_SIGNAL = `
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => { console.log(signal); process.exit(7) })
  setInterval(() => {}, 1000)
  console.log('up')`

test('the program gets its arguments and its exit code is passed on', async (t) => {
  const dir = checkout(t, 'console.log(process.argv.slice(2).join("|")); process.exit(5)')
  assert.deepEqual(await run(dir, ['a b', '--c']), { code: 5, output: 'a b|--c\n' })
})

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  test(`${signal} to the launcher alone reaches the program, and the launcher waits for its end`, async (t) => {
    const child = start(checkout(t, TELLS_ITS_SIGNAL), [])
    const output = collect(child)
    await once(child.stdout ?? child, 'data')
    child.kill(signal)
    const [code] = await once(child, 'close')
    assert.deepEqual({ code, output: output() }, { code: 7, output: `up\n${signal}\n` })
  })

test('npm is missing where it is needed: one sentence', async (t) => {
  const dir = checkout(t, '', { 'node_modules/absent': { version: '1.0.0' } })
  const { code, output } = await run(dir, [], { PATH: join(dir, 'no-programs') })
  assert.equal(code, 1)
  assert.match(output, /^holdfast: npm was not found\. .*install npm and run this again\.$/m)
  assert.doesNotMatch(output, /^\s+at /m)
})

test('the registry is away where it is needed: one sentence', async (t) => {
  const tarball = { version: '1.0.0', resolved: 'http://127.0.0.1:9/absent-1.0.0.tgz' }
  const dir = checkout(t, '', { 'node_modules/absent': tarball }, { absent: '1.0.0' })
  const npm = {
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_fetch_retries: '0',
    npm_config_cache: join(dir, 'cache'),
  }
  const { code, output } = await run(dir, [], npm)
  assert.equal(code, 1)
  assert.match(output, /^holdfast: The npm registry cannot be reached \(ECONNREFUSED\)\./m)
  assert.doesNotMatch(output, /^\s+at /m)
})

test('an installation that was killed stops nothing', async (t) => {
  const dir = checkout(t, '', { 'node_modules/absent': { version: '1.0.0' } })
  mkdirSync(join(dir, '.runtime'))
  writeFileSync(join(dir, '.runtime/installing'), '999999999')
  const { output } = await run(dir, [], { PATH: join(dir, 'no-programs') })
  assert.match(output, /npm was not found/)
})

// A repository of one file, with what its lock file asks for.
function checkout(t: TestContext, program: string, packages = {}, dependencies = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-launcher-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  cpSync(TOOLS, join(dir, 'tools'), { recursive: true })
  writeFileSync(join(dir, 'program.ts'), program)
  const root = { name: 'program', version: '1.0.0', dependencies }
  writeFileSync(join(dir, 'package.json'), JSON.stringify(root))
  const lock = { ...root, lockfileVersion: 3, requires: true, packages: { '': root, ...packages } }
  writeFileSync(join(dir, 'package-lock.json'), JSON.stringify(lock))
  return dir
}

function start(dir: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [join(dir, 'tools/run.mjs'), 'program.ts', ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function collect(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  return () => output
}

async function run(
  dir: string,
  args: string[],
  env?: Record<string, string>,
): Promise<{ code: unknown; output: string }> {
  const child = start(dir, args, env)
  const output = collect(child)
  const [code] = await once(child, 'close')
  return { code, output: output() }
}
