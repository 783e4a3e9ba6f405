// A reconciliation as a person reads it in a terminal: the three sides of each currency, what does not agree, and that nothing is left over.
import { formatSharded } from '#core/ids.ts'
import type { Reconciled } from '#payments/reconcile.ts'

/** Many lines, none at the end. Amounts are in minor units. The exit code is the caller's: 1 when a person has to act. */
export function printReconciliation({ differences, totals }: Reconciled, since: string, until: string): string {
  const sums = totals.map(
    (sum) =>
      `  ${sum.currency}: ${sum.payments} payments; providers ${sum.providerMinor} − differences ${sum.differencesMinor} − owed ${sum.owedMinor} − bookings ${sum.bookingsMinor} = ${sum.restMinor}`,
  )
  const told = differences.map(({ kind, action, amountMinor, currency, sides: { provider, theirs, ours } }) => {
    const paymentId = ours ? formatSharded('pay', ours.inventoryId, ours.id) : 'no payment of ours'
    return `  ${kind} (${action}) ${amountMinor} ${currency}: ${provider} ${theirs?.providerPaymentId ?? '(not there)'}, ${paymentId}`
  })
  const end = differences.length === 0 ? 'Nothing differs.' : `${differences.length} differences:`
  return [`Payments opened from ${since} until ${until}:`, ...sums, end, ...told].join('\n')
}
