// The audit as a person reads it in a terminal: what was checked, and each finding with its rows.
import type { AuditReport } from './run-audit.ts'

// More would push the sentence that matters off the screen; the API answers all of them.
const ROWS_SHOWN = 10

/** Many lines, none at the end. The exit code is the caller's: 1 when there are findings. */
export function printAudit({ findings, counts, checkedMs, asOf, invariants }: AuditReport): string {
  const what = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  const checked = `Checked ${invariants} invariants in ${checkedMs} ms, as of ${asOf}: ${what.join(', ')}.`
  if (findings.length === 0) return `${checked}\nNo findings.`
  const told = findings.map(({ invariant, sentence, rows }) => {
    const shown = rows.slice(0, ROWS_SHOWN).map((row) => `    ${JSON.stringify(row)}`)
    const more = rows.length > ROWS_SHOWN ? [`    and ${rows.length - ROWS_SHOWN} more`] : []
    return [`\n  ${invariant}: not so: ${sentence}`, ...shown, ...more].join('\n')
  })
  return `${checked}\n${findings.length} of them do not hold:\n${told.join('\n')}`
}
