// Plays a rush as a person would, by the command, and reads what it says.
import { type ChildProcess, spawn } from 'node:child_process'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { RushReport } from '#rush/report.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

export type Played = { code: number | null; said: string; report: RushReport; tookMs: number }

/** The command with `--json`. `begun` gets the process and can interrupt it. */
export async function play(
  t: TestContext,
  options: string[],
  begun: (child: ChildProcess) => void = () => {},
): Promise<Played> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [CLI, 'rush', '--json', ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  // SIGTERM, not SIGKILL: a system of its own has to end with it.
  t.after(() => child.kill('SIGTERM'))
  let [out, said] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  begun(child)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  const last = out.trim().split('\n').at(-1) ?? ''
  if (!last.startsWith('{'))
    throw new Error(`no JSON in the last line of standard output (code ${code}): ${out}\n${said}`)
  return { code, said, report: JSON.parse(last) as RushReport, tookMs: performance.now() - startedMs }
}

/** A run whose figures somebody reading a failure needs. */
export function tell(t: TestContext, { said }: Played): void {
  t.diagnostic(said.slice(said.lastIndexOf('Rush on')))
}
