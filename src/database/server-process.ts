// The PostgreSQL process itself: started so that it ends with us, started again when it dies, waited for at both ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CLEAN_ENVIRONMENT, type RunAs } from './postgres-binaries.ts'
import { StartRefused } from './start-refused.ts'

export type ServerPlan = {
  program: string
  data: string
  logFile: string
  settings: Record<string, string>
  runAs: RunAs
  log: (sentence: string) => void
}

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path))
const LOG_MAX_BYTES = 10_000_000
const POLL_MS = 15
const RECOVERY_NOTICE_MS = 5_000
const STOP_PATIENCE_MS = 10_000
const RESTART_PAUSE_MS = 500
// Backends of a killed server need a moment to notice; until then its shared memory is "still in use".
const SHARED_MEMORY_PATIENCE_MS = 10_000

/** Answers when the server takes connections; `stop` answers when it has ended. StartRefused with the server's own words if it does not start. */
export async function runServer(plan: ServerPlan): Promise<{ stop: () => Promise<void> }> {
  let stopping = false
  let server = await launchPatiently(plan)
  const keepRunning = () =>
    server.once('exit', async (code, signal) => {
      while (!stopping) {
        plan.log(`PostgreSQL ended by itself (${signal ?? `code ${code}`}); it is started again.`)
        await sleep(RESTART_PAUSE_MS)
        if (stopping) return
        try {
          server = await launchPatiently(plan)
          if (stopping) await stopServer(server)
          else keepRunning()
          return
        } catch (error) {
          plan.log((error as Error).message)
        }
      }
    })
  keepRunning()
  return {
    async stop() {
      stopping = true
      await stopServer(server)
    },
  }
}

async function launchPatiently(plan: ServerPlan): Promise<ChildProcess> {
  for (let waitedMs = 0; ; waitedMs += RESTART_PAUSE_MS) {
    try {
      return await launch(plan)
    } catch (error) {
      const passing = (error as Error).message.includes('shared memory block')
      if (!passing || waitedMs >= SHARED_MEMORY_PATIENCE_MS) throw error
      await sleep(RESTART_PAUSE_MS)
    }
  }
}

async function launch(plan: ServerPlan): Promise<ChildProcess> {
  const { data, logFile, runAs } = plan
  const logStart = sizeOf(logFile) > LOG_MAX_BYTES ? turnOver(logFile) : sizeOf(logFile)
  const output = openSync(logFile, 'a', 0o600)
  const settings = Object.entries(plan.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [plan.program, '-D', data, ...settings]
  // A process group of its own: Ctrl-C in the terminal reaches only us, and we end it after our last transaction.
  const options = { cwd: '/', env: CLEAN_ENVIRONMENT, detached: true, stdio: ['ignore', output, output] as const }
  const server = SETPRIV
    ? spawn(SETPRIV, [...privileges(runAs), '--pdeathsig', 'INT', ...command], {
        ...options,
        stdio: [...options.stdio],
      })
    : spawn(plan.program, command.slice(1), { ...options, ...runAs, stdio: [...options.stdio] })
  closeSync(output)

  let failed: Error | null = null
  server.once('error', (error) => {
    failed = error
  })
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    if (isReady(data, server.pid)) return server
    if (failed || server.exitCode !== null || server.signalCode !== null)
      throw new StartRefused(
        `PostgreSQL does not start on ${data}: ${failed ?? reasonIn(logFile, logStart)}. The whole log is ${logFile}; if the folder is damaged, restore it from a backup or move it away.`,
      )
    // There is no limit: after a crash the server reads its log back first, and stopping it would only begin that anew.
    if (waitedMs > 0 && waitedMs % RECOVERY_NOTICE_MS < POLL_MS) plan.log('PostgreSQL is still recovering.')
    await sleep(POLL_MS)
  }
}

// With pdeathsig the kernel tells the server to stop when we are killed (measured: gone within 1.5 s); elsewhere the next start stops it.
function privileges(runAs: RunAs): string[] {
  return runAs ? ['--reuid', String(runAs.uid), '--regid', String(runAs.gid), '--clear-groups'] : []
}

// The eighth line of postmaster.pid is the server's own word for its state.
function isReady(data: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
  } catch {
    return false
  }
}

async function stopServer(server: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGINT')
  const impatient = setTimeout(() => server.kill('SIGQUIT'), STOP_PATIENCE_MS)
  await ended
  clearTimeout(impatient)
}

function reasonIn(logFile: string, start: number): string {
  const lines = readFileSync(logFile).subarray(start).toString().trim().split('\n')
  const fatal = lines.find((line) => /(FATAL|PANIC):/.test(line)) ?? lines.at(-1) ?? ''
  return fatal.replace(/^.*?(FATAL|PANIC): +/, '').replace(/\.$/, '') || 'it said nothing'
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function turnOver(logFile: string): number {
  renameSync(logFile, `${logFile}.1`)
  return 0
}
