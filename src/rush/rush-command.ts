// The command `holdfast rush`: reads its options, plays, prints, and ends with 1 when anything was not as it must be.
import { randomInt } from 'node:crypto'
import { StartRefused } from '#database/start-refused.ts'
import { printReport } from './print-report.ts'
import { rush } from './rush.ts'
import { type RushValues, readRushOrder } from './rush-order.ts'

const SEED_MAX = 2 ** 31 - 1
// npm forwards a Ctrl-C that its program has had from the terminal already; one that comes later is impatience.
const ECHO_MS = 2_000

/** Ctrl-C ends the evening early, and the audit still comes; a second one ends everything. StartRefused for options that make no sense. */
export async function rushCommand(values: RushValues, args: string[]): Promise<void> {
  if (args[0] !== undefined) throw new StartRefused(`"${args[0]}" stands alone; every option of rush begins with --.`)
  const order = readRushOrder(values, randomInt(SEED_MAX))
  const stopped = new AbortController()
  let stoppingMs = 0
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopped.signal.aborted && performance.now() - stoppingMs > ECHO_MS) process.exit(1)
      if (stopped.signal.aborted) return
      process.stderr.write('\nSending everybody home; the audit follows. Ctrl-C again ends at once.\n')
      stoppingMs = performance.now()
      stopped.abort()
    })
  const report = await rush(order, stopped.signal)
  // With --json standard output is for programs: people read beside it.
  const print = order.json ? console.error : console.log
  print(`\n${printReport(report)}`)
  if (order.reportFile) print(`The report with its charts is in ${order.reportFile}.`)
  if (order.json) console.log(JSON.stringify(report))
  if (!report.ok) process.exitCode = 1
}
