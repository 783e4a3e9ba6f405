// One process a data folder: a pid file that a killed process cannot leave behind as a lock, and the end of a PostgreSQL it left running.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartRefused } from './start-refused.ts'

const LOCK_FILE = 'holdfast.pid'
// A process that was told to stop may be on its way out when the next one comes.
const HOLDER_PATIENCE_MS = 3_000
const ORPHAN_PATIENCE_MS = 15_000
const STEP_MS = 50

/** Answers the function that gives the folder back. Refuses (StartRefused) while another process has it, naming that process. */
export async function lockFolder(folder: string): Promise<() => void> {
  const path = join(folder, LOCK_FILE)
  const mine = `${process.pid} ${startOf(process.pid)}`
  for (let waitedMs = 0; !writeNew(path, mine); waitedMs += STEP_MS) {
    const theirs = readText(path)
    // An empty file is one that is just being written.
    const lives = theirs === '' || holderIn(theirs) !== null
    if (lives && waitedMs >= HOLDER_PATIENCE_MS)
      throw new StartRefused(
        `The data folder ${folder} is in use by process ${holderIn(theirs)}. Stop that one first, or give this one a folder of its own in HOLDFAST_DATA.`,
      )
    // Two processes may get here at once and one may remove the other's new file; PostgreSQL's own lock then stops the second.
    if (!lives && readText(path) === theirs) rmSync(path, { force: true })
    if (lives) await sleep(STEP_MS)
  }
  return () => {
    if (readText(path) === mine) rmSync(path, { force: true })
  }
}

/** The live PostgreSQL of the live process that has the folder, as its postmaster.pid tells it; null when there is none. */
export function serverOfHolder(folder: string, dataFolder: string): { socketFolder: string; port: number } | null {
  const [pid, , , port, socketFolder = '', , , status] = readText(join(dataFolder, 'postmaster.pid')).split('\n')
  if (holderIn(readText(join(folder, LOCK_FILE))) === null || status?.trim() !== 'ready') return null
  return isServerOn(Number(pid), dataFolder) ? { socketFolder, port: Number(port) } : null
}

/**
 * Ends the PostgreSQL that a killed process left on this data folder, and removes a postmaster.pid whose number now belongs to another program
 * (PostgreSQL itself would take that program for a server). With no such server it does nothing.
 */
export async function stopOrphan(dataFolder: string, log: (sentence: string) => void): Promise<void> {
  const pidFile = join(dataFolder, 'postmaster.pid')
  const pid = Number(readText(pidFile).split('\n')[0])
  if (!isAlive(pid)) return
  if (!isServerOn(pid, dataFolder)) return rmSync(pidFile, { force: true })
  log(`A PostgreSQL left over from a killed process (${pid}) is stopped first.`)
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    killOrRefuse(pid, signal, dataFolder)
    for (let waited = 0; waited < ORPHAN_PATIENCE_MS; waited += STEP_MS) {
      if (!isAlive(pid)) return
      await sleep(STEP_MS)
    }
  }
  throw new StartRefused(
    `A PostgreSQL left over on ${dataFolder} does not stop. End process ${pid} by hand and start again.`,
  )
}

// The start time tells the process from a later one that was given the same number.
function holderIn(lock: string): number | null {
  const [pid = '', ...start] = lock.split(' ')
  return isAlive(Number(pid)) && startOf(Number(pid)) === start.join(' ') ? Number(pid) : null
}

function isServerOn(pid: number, dataFolder: string): boolean {
  return isAlive(pid) && commandOf(pid).includes(dataFolder)
}

function killOrRefuse(pid: number, signal: NodeJS.Signals, dataFolder: string): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return
    throw new StartRefused(
      `Another user's PostgreSQL (process ${pid}) runs on ${dataFolder}. Stop it, or use another folder in HOLDFAST_DATA.`,
    )
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false // EPERM: alive, and somebody else's
  }
  return stateOf(pid) !== 'Z' // A zombie has ended; only its parent has not noticed.
}

// The fields of /proc/PID/stat after the program's name, which may itself contain spaces: 0 is the state, 19 the start in clock ticks.
function statOf(pid: number): string[] {
  return readText(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
}

function stateOf(pid: number): string {
  return statOf(pid)[0] ?? ''
}

function startOf(pid: number): string {
  return process.platform === 'linux' ? (statOf(pid)[19] ?? '') : askPs('lstart', pid)
}

function commandOf(pid: number): string {
  return process.platform === 'linux' ? readText(`/proc/${pid}/cmdline`) : askPs('command', pid)
}

function askPs(column: string, pid: number): string {
  return spawnSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? ''
}

function writeNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
