// The processes that a supervised Holdfast started for its doors.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Their process ids, by what Linux says of the program's children. */
export function childrenOf({ pid }: ChildProcess): number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  return pids.filter((child) => child > 0 && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('cli.ts'))
}
