// A Holdfast only for this rush: a process of its own, on a data folder and a port of its own, gone without a trace afterwards.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CLEAN_ENVIRONMENT } from '#database/postgres-binaries.ts'
import { StartRefused } from '#database/start-refused.ts'

export type OwnSystem = { url: string; adminKey: string; close(): Promise<void> }

const CLI = fileURLToPath(new URL('../cli.ts', import.meta.url))
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path))
const READY = /Holdfast is ready at (http:\/\/\S+)/
const READY_WITHIN_MS = 120_000
const STOP_WITHIN_MS = 20_000

// An evening in fast motion: a hold lasts half a minute, also while it is paid, so that what lapses is sold again while one watches.
const FAST_MOTION = {
  HOLD_TTL_MS: '30000',
  PAYMENT_SESSION_TTL_MS: '25000',
  PAYMENT_BUFFER_MS: '5000',
  SWEEP_INTERVAL_MS: '2000',
}

/** Answers when it is ready; StartRefused with its own last words if it does not start. */
export async function startOwnSystem(processes: number): Promise<OwnSystem> {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-rush-'))
  // Started by root, its PostgreSQL runs as somebody else, who must be able to enter.
  chmodSync(dir, 0o711)
  const adminKey = `hf_rush_${randomBytes(24).toString('hex')}`
  const child = launch({
    ...CLEAN_ENVIRONMENT,
    ...FAST_MOTION,
    ...{ HOLDFAST_DATA: dir, PORT: '0', DEMO_DATA: 'off', HOLDFAST_ADMIN_KEY: adminKey, LOG_LEVEL: 'fatal' },
    // All buyers come through this machine and say from where: each has an address, and the limits of an address are as in life.
    ...{ TRUST_PROXY: '127.0.0.1', PROCESSES: String(processes) },
  })
  const close = async () => {
    await stop(child)
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    const url = await untilReady(child)
    return { url: url.replace('localhost', '127.0.0.1'), adminKey, close }
  } catch (error) {
    await close()
    throw error
  }
}

// A process group of its own, so that Ctrl-C in the terminal reaches only us, and the audit still has something to ask. Killed, we take it with us.
function launch(env: Record<string, string>): ChildProcess {
  const command = [process.execPath, CLI, 'start']
  const [program = '', ...args] = SETPRIV ? [SETPRIV, '--pdeathsig', 'TERM', ...command] : command
  return spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
}

function untilReady(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const refuse = (why: string) => reject(new StartRefused(`The system of its own does not start: ${why}`))
    const tooLong = setTimeout(() => refuse('it takes too long.'), READY_WITHIN_MS)
    child.once('error', (error) => refuse(error.message))
    child.once('exit', () => refuse(said.trim().split('\n').at(-1) ?? ''))
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4_000)
        const url = READY.exec(said)?.[1]
        if (!url) return
        clearTimeout(tooLong)
        resolve(url)
      })
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const tooLong = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
  child.kill('SIGTERM')
  await ended
  clearTimeout(tooLong)
}
