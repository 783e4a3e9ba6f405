// What became of a sale, in the words tests compare, and the one act that several of them begin with.
import assert from 'node:assert/strict'
import { Problem } from '#core/problem.ts'
import { cancelBooking } from '#payments/cancel-booking.ts'
import type { TestSale } from './test-sale.ts'

export async function outcomes(sale: TestSale): Promise<string[]> {
  const rows = await sale.sql<{ outcome: string }[]>`select outcome from payment_callbacks order by received_at`
  return rows.map(({ outcome }) => outcome)
}

export async function statuses(sale: TestSale): Promise<{ booking: string; payments: string[] }> {
  const [booking] = await sale.sql<{ status: string }[]>`select status from bookings order by created_at limit 1`
  const payments = await sale.sql<{ status: string }[]>`select status from payments order by created_at, id`
  return { booking: booking?.status ?? '', payments: payments.map(({ status }) => status) }
}

export async function settled(sale: TestSale): Promise<string[]> {
  const rows = await sale.sql<{ text: string }[]>`
    select kind || ' ' || reason || ' ' || status as text from settlements where kind <> 'EXPIRE_SESSION' order by created_at`
  return rows.map(({ text }) => text)
}

export async function refunds(sale: TestSale): Promise<number[]> {
  const rows = await sale.sql<{ amountMinor: number }[]>`
    select amount_minor from sandbox_movements where kind = 'REFUND' order by moved_at`
  return rows.map(({ amountMinor }) => amountMinor)
}

export function cancel(sale: TestSale, bookingId: string, lines: (number | string)[] | null = null) {
  return cancelBooking(sale.parts, { inventoryId: sale.inventoryId, bookingId }, lines)
}

export function refused(facts: Record<string, unknown>) {
  return (error: unknown) => {
    assert.ok(error instanceof Problem && error.code === 'NOT_CANCELLABLE', String(error))
    for (const [name, value] of Object.entries(facts)) assert.deepEqual(error.facts[name], value)
    return true
  }
}
