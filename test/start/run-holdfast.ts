// `holdfast start` as a process of its own: run, waited for, stopped, refused.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { layKeptCluster, makeTestFolder } from '#test/support/cluster.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
// A first start makes a database and loads the demo data; slow disks have been seen to take 20 s.
const READY_PATIENCE_MS = 90_000
export const STOP_PATIENCE_MS = 10_000
const READY = /Holdfast is ready at (http:\/\/\S+)/

export type Running = { child: ChildProcess; url: string; output: () => string }

export function emptyFolder(t: TestContext): string {
  const dir = makeTestFolder()
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export async function dataFolder(t: TestContext): Promise<string> {
  const dir = emptyFolder(t)
  await layKeptCluster(dir)
  return dir
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

function launch(env: Record<string, string>, command: string[]): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [...command, 'start'], {
    env: { PATH: process.env.PATH, PORT: '0', DEMO_DATA: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  return { child, output: () => output }
}

export async function holdfast(
  t: TestContext,
  env: Record<string, string>,
  command = [join(ROOT, 'src/cli.ts')],
): Promise<Running> {
  const { child, output } = launch(env, command)
  t.after(() => child.kill('SIGKILL'))
  for (const deadlineMs = performance.now() + READY_PATIENCE_MS; ; await sleep(25)) {
    const url = READY.exec(output())?.[1]
    if (url) return { child, url, output }
    assert.equal(child.exitCode, null, `it ended instead of being ready:\n${output()}`)
    assert.ok(performance.now() < deadlineMs, `it was not ready in time:\n${output()}`)
  }
}

export async function stop({ child, output }: Running, signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(child, 'exit')
  child.kill(signal)
  const overdue = sleep(STOP_PATIENCE_MS, ['overdue'], { ref: false })
  const [code] = await Promise.race([ended, overdue])
  assert.notEqual(code, 'overdue', `it did not stop in time:\n${output()}`)
  return code as number | null
}

export async function assertRefused(env: Record<string, string>, sentence: RegExp): Promise<void> {
  const { child, output } = launch(env, [join(ROOT, 'src/cli.ts')])
  const [code] = await once(child, 'close')
  assert.equal(code, 1, output())
  assert.match(output(), sentence)
  assert.doesNotMatch(output(), /^\s+at /m, 'a stack trace was printed')
  assert.doesNotMatch(output(), /secret/)
}
