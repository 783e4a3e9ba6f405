// Runs every test: one PostgreSQL for all, two files at a time, files that ask for it (`// alone` in their first line) by themselves at the end.
// node tools/run.mjs test/run.ts [--long] [PART OF A FILE NAME]...   The last line is always `N passed, N failed`.
import { globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type EventData, run } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect, parseArgs } from 'node:util'
import { startTestCluster } from './support/cluster.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FILES_AT_ONCE = 2
// A file that has not ended by then hangs, most often on a pool that was not closed.
const FILE_TIMEOUT_MS = 10 * 60_000
const LONG_FILE_TIMEOUT_MS = 3 * 3_600_000

type FileReport = { passed: number; failed: number; startedMs: number; output: string; failures: string[] }

const { values, positionals } = parseArgs({ options: { long: { type: 'boolean' } }, allowPositionals: true })
if (values.long) process.env.HOLDFAST_TEST_LONG = '1'

const reports = new Map<string, FileReport>()
const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: ROOT })
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort()
const alone = files.filter((file) => readFileSync(ROOT + file, 'utf8').startsWith('// alone'))
const together = files.filter((file) => !alone.includes(file))

const cluster = await startTestCluster()
process.env.HOLDFAST_TEST_PG = JSON.stringify(cluster.address)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cluster.stop().then(() => process.exit(130)))
const startedMs = performance.now()
await runFiles(together, FILES_AT_ONCE)
await runFiles(alone, 1)
await cluster.stop()
process.exitCode = conclude()

async function runFiles(batch: string[], concurrency: number): Promise<void> {
  if (batch.length === 0) return
  const timeout = values.long ? LONG_FILE_TIMEOUT_MS : FILE_TIMEOUT_MS
  for await (const event of run({ files: batch.map((file) => ROOT + file), concurrency, timeout })) {
    if (event.type === 'test:pass') count(event.data, 'passed')
    if (event.type === 'test:fail') count(event.data, 'failed')
    if (event.type === 'test:stdout' || event.type === 'test:stderr')
      reportOf(event.data.file).output += event.data.message
    if (event.type === 'test:diagnostic' && event.data.file)
      reportOf(event.data.file).output += `${event.data.message}\n`
    if (event.type === 'test:dequeue') reportOf(event.data.file)
    if (event.type === 'test:summary' && event.data.file) printFile(event.data.file)
  }
}

function count(test: EventData.TestPass | EventData.TestFail, outcome: 'passed' | 'failed'): void {
  const report = reportOf(test.file)
  const isFile = test.name === test.file
  // A suite fails with its tests, and only they are counted; its own hooks have no test of theirs.
  if (outcome === 'failed' && 'error' in test.details && !isSubtestFailure(test.details.error))
    fail(report, isFile ? howItEnded(test.details.error) : `${test.name}\n${explain(test.details.error)}`)
  // The runner takes a file without any test for one that passed.
  if (outcome === 'passed' && isFile) fail(report, 'There is no test in this file.')
  const ran = test.details.type !== 'suite' && test.skip === undefined && test.todo === undefined
  if (outcome === 'passed' && !isFile && ran) report.passed += 1
}

function fail(report: FileReport, failure: string): void {
  report.failed += 1
  report.failures.push(failure)
}

// The runner's own error only carries the test's; an assertion's stack already begins with what differed.
function explain(error: Error): string {
  const cause = error.cause ?? error
  const isAssertion = cause instanceof Error && 'code' in cause && cause.code === 'ERR_ASSERTION'
  return isAssertion ? String(cause.stack) : inspect(cause, { depth: 6 })
}

function howItEnded(error: Error): string {
  const { exitCode, signal } = error as Error & { exitCode?: number; signal?: string }
  return `The file itself failed: it ended with ${signal ?? `exit code ${exitCode}`}.`
}

function isSubtestFailure(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed'
}

function reportOf(file: string | undefined): FileReport {
  const name = relative(ROOT, file ?? '')
  let report = reports.get(name)
  if (!report) {
    report = { passed: 0, failed: 0, startedMs: performance.now(), output: '', failures: [] }
    reports.set(name, report)
  }
  return report
}

function printFile(name: string): void {
  const report = reportOf(name)
  const seconds = ((performance.now() - report.startedMs) / 1000).toFixed(1)
  const counts = `${report.passed} passed, ${report.failed} failed`
  console.log(`${report.failed ? 'FAIL' : 'ok  '} ${relative(ROOT, name)}: ${counts}, ${seconds} s`)
  printFailures(report)
}

function printFailures(report: FileReport): void {
  const indented = (text: string) => `  ${text.trimEnd().replaceAll('\n', '\n  ')}\n`
  if (report.failures.length > 0 && report.output) console.log(indented(`\nwhat the file printed:\n${report.output}`))
  for (const failure of report.failures.splice(0)) console.log(indented(`\n${failure}`))
}

function conclude(): number {
  const all = [...reports.values()]
  const passed = all.reduce((sum, report) => sum + report.passed, 0)
  const failed = all.reduce((sum, report) => sum + report.failed, 0)
  // What the runner says of a whole file (it does not load, it ends with an error) comes after the file's own summary.
  for (const [name, report] of reports) if (report.failures.length > 0) printFile(ROOT + name)
  const broken = [...reports].filter(([, report]) => report.failed > 0).map(([name]) => name)
  console.log(`\n${files.length} files in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  if (broken.length > 0) console.log(`failed: ${broken.join(', ')}`)
  if (passed + failed === 0) console.log('No test ran.')
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 || passed === 0 ? 1 : 0
}
