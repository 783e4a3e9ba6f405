// What can go wrong between a provider and us, on demand: planned for a payment when it is opened, each call's trouble once, so that a repeat gets through.
import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '#core/problem.ts'
import type { Sql, Tx } from '#database/connect.ts'

/**
 * About the message that follows a payment. late: long after the hold; twice: four at once; never; wrong_amount, wrong_currency, unknown_payment: it
 * says so; forged, stale (its time is too old), old_secret (the one that goes out of use): how it is signed; captured: charged at once, as by a provider
 * without authorisation; declined_first: a failure, then the success; out_of_order: the success, then the failure that came before it.
 */
export const MESSAGE_FAULTS = [
  'late',
  'twice',
  'never',
  'wrong_amount',
  'wrong_currency',
  'unknown_payment',
  'forged',
  'stale',
  'old_secret',
  'captured',
  'declined_first',
  'out_of_order',
] as const
/** About the money afterwards. */
export const MONEY_FAULTS = ['refund_pending', 'refund_fails', 'disputed'] as const
/** About a call, as `slow:capture`. error: it answers 500 and does nothing; reply_lost: it does it and nobody hears; hang: it never answers. */
export const CALL_FAULTS = ['slow', 'error', 'reply_lost', 'hang'] as const
export const SANDBOX_CALLS = ['open', 'look_up', 'capture', 'void', 'refund', 'expire'] as const
export type SandboxCall = (typeof SANDBOX_CALLS)[number]
export type MessageFault = (typeof MESSAGE_FAULTS)[number]

export const ALL_FAULTS: readonly string[] = [
  ...MESSAGE_FAULTS,
  ...MONEY_FAULTS,
  ...CALL_FAULTS.flatMap((fault) => SANDBOX_CALLS.map((call) => `${fault}:${call}`)),
]
export const SLOW_MS = 1_500
const HANG_MS = 60_000

/** Throws INVALID_REQUEST naming what is no fault. */
export function checkFaults(faults: readonly string[]): void {
  const unknown = faults.find((fault) => !ALL_FAULTS.includes(fault))
  if (unknown === undefined) return
  const message = `"${unknown.slice(0, 40)}" is none of: ${ALL_FAULTS.join(', ')}`
  throw new Problem('INVALID_REQUEST', { errors: [{ path: '/faults', message }] })
}

/** What was asked for this payment, and what the rules for all of them draw. */
export async function drawFaults(sql: Sql, asked: readonly string[]): Promise<string[]> {
  checkFaults(asked)
  const drawn = await sql<{ fault: string }[]>`select fault from sandbox_fault_rules where random() * 100 < percent`
  return [...new Set([...asked, ...drawn.map(({ fault }) => fault)])]
}

/** Runs a call as this payment's plan has it. */
export async function withFaults<T>(sql: Sql, id: string, call: SandboxCall, work: () => Promise<T>): Promise<T> {
  const due = await takeFaults(
    sql,
    id,
    CALL_FAULTS.map((fault) => `${fault}:${call}`),
  )
  return sufferFaults(
    due.map((fault) => fault.split(':', 1)[0] ?? ''),
    work,
  )
}

export async function sufferFaults<T>(due: readonly string[], work: () => Promise<T>): Promise<T> {
  if (due.includes('slow')) await pause(SLOW_MS, null, { ref: false })
  if (due.includes('hang')) await pause(HANG_MS, null, { ref: false })
  if (due.includes('error') || due.includes('hang')) throw new Error('the sandbox answers 500, as it was told to')
  const answer = await work()
  if (due.includes('reply_lost')) throw new Error('the answer of the sandbox was lost, as it was told to be')
  return answer
}

/** Those of `wanted` that are planned for this payment and have not come to pass yet; from now on they have. */
export async function takeFaults(tx: Tx, id: string, wanted: readonly string[]): Promise<string[]> {
  const [plan] = await tx<{ due: string[] }[]>`
    select coalesce(array_agg(fault), '{}') as due from sandbox_payments, unnest(faults) fault
    where id = ${id} and fault = any (${[...wanted]}::text[]) and fault <> all (faults_used)`
  const due = plan?.due ?? []
  if (due.length > 0) await tx`update sandbox_payments set faults_used = faults_used || ${due}::text[] where id = ${id}`
  return due
}
