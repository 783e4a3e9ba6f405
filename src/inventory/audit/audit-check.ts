// What an audit is made of: a sentence that must be true of every committed state, and the query that answers the rows where it is not.
import type { Tx } from '#database/connect.ts'

export type AuditRow = Record<string, unknown>

export type AuditCheck = {
  /** The number of the invariant and a word for it: '2 held seats'. */
  invariant: string
  sentence: string
  /** Answers the offending rows, at most ROWS_MAX of them; none when the sentence is true. One statement, reading only. */
  find: (tx: Tx) => Promise<AuditRow[]>
}

export type Finding = { invariant: string; sentence: string; rows: AuditRow[] }

/** A person looks at the first few; a million more would only fill the screen. */
export const ROWS_MAX = 100

/** One after another, in the transaction given: that all of them see one state is the caller's snapshot. */
export async function runChecks(tx: Tx, checks: AuditCheck[]): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { invariant, sentence, find } of checks) {
    const rows = await find(tx)
    if (rows.length > 0) findings.push({ invariant, sentence, rows: rows.map((row) => ({ ...row })) })
  }
  return findings
}
