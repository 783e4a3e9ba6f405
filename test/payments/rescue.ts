// The race of late money against a new buyer for the same seats: exactly one of the two has them, as a whole, and the other is told so.
import { randomUUID } from 'node:crypto'
import { runAudit } from '#admin/run-audit.ts'
import { requestOf } from '#test/contract/ground.ts'
import { HOLD_MS, type TestSale } from '#test/sale/test-sale.ts'

export type RescueRace = { violations: string[]; rescued: number; rivals: number }

/** The sale needs two seats a round, named A1, B1, A2, B2 ... and LATE_PAYMENT=rescue. */
export async function raceRescue(sale: TestSale, rounds: number): Promise<RescueRace> {
  const violations: string[] = []
  const late: { message: Awaited<ReturnType<TestSale['message']>>; holdId: string }[] = []
  for (let round = 1; round <= rounds; round++) {
    const hold = await sale.hold([`A${round}`, `B${round}`])
    const checkout = await sale.checkOut(hold)
    await sale.pay(checkout, { fault: 'never' })
    late.push({ message: await sale.message('authorised', checkout), holdId: hold.holdId })
  }
  await sale.db.shiftClock(HOLD_MS + 1_000)
  const result: RescueRace = { violations, rescued: 0, rivals: 0 }
  for (const [at, { message }] of late.entries()) {
    const seats = [`B${at + 1}`]
    const rival = requestOf({ inventoryId: sale.inventoryId, customerId: randomUUID(), seats, ttlMs: HOLD_MS })
    const place = () => sale.store.place([rival]).then(([outcome]) => outcome?.outcome ?? 'NOTHING')
    const racers = [() => sale.send(message), place, ...(at % 3 === 0 ? [() => sale.expire()] : [])]
    if (at % 2 === 1) racers.reverse()
    const answers = await Promise.all(
      racers.map((race) =>
        race().catch((error: unknown) => {
          violations.push(`round ${at + 1}: ${error}`)
          return 'ERROR'
        }),
      ),
    )
    const [booking] = await sale.sql<{ status: string; seats: number }[]>`
      select b.status, (select count(*)::int from booked_seats s where s.booking_id = b.id) as seats
      from bookings b join payments p on p.booking_id = b.id
      where p.provider_payment_id = ${message.data.payment}`
    const sold = booking?.status === 'CONFIRMED'
    const held = answers.includes('HELD')
    if (sold && booking.seats !== 2) violations.push(`round ${at + 1}: a sale of ${booking.seats} seats of 2`)
    if (sold === held) violations.push(`round ${at + 1}: ${sold ? 'both have the seat' : 'nobody has the seat'}`)
    if (sold) result.rescued += 1
    if (held) result.rivals += 1
  }
  await sale.work()
  for (const { invariant, rows } of (await runAudit(sale.sql)).findings) {
    violations.push(`the audit found ${invariant}: ${JSON.stringify(rows[0])}`)
  }
  return result
}
