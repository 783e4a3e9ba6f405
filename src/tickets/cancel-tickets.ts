// Takes tickets back with the lines they were issued for.
import type { Tx } from '#database/connect.ts'

/** Part of the cancelling transaction. Tickets that are not issued yet never will be: issuing looks at the lines. */
export async function cancelTickets(
  tx: Tx,
  { inventoryId, bookingId, lines }: { inventoryId: number; bookingId: string; lines: number[] },
): Promise<void> {
  await tx`
    update tickets set status = 'CANCELLED', cancelled_at = holdfast_now()
    where inventory_id = ${inventoryId} and booking_id = ${bookingId} and line_no = any (${lines}::int[]) and status = 'VALID'`
}
