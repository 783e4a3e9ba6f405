// The crowd of the holding benchmarks: pairs of neighbouring seats, requests for them, and buyers who ask one after another.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Sql } from '#database/connect.ts'
import type { PlaceRequest } from '#inventory/seat-store.ts'
import { openShows } from './bench.ts'

export type Wish = { inventoryId: number; seats: [string, string] }

/** Every pair of neighbours (1+2, 3+4 ...) of shows of 15 rows of 20. */
export function pairsOf(inventoryIds: number[]): Wish[] {
  return inventoryIds.flatMap((inventoryId) =>
    [...'ABCDEFGHIJKLMNO'].flatMap((row) =>
      Array.from(
        { length: 10 },
        (_, n): Wish => ({ inventoryId, seats: [`${row}${2 * n + 1}`, `${row}${2 * n + 2}`] }),
      ),
    ),
  )
}

/** A request as the product makes it, token and quote included: both sides of a comparison write the same bytes. */
export function requestFor({ inventoryId, seats }: Wish): PlaceRequest {
  return {
    inventoryId,
    holdId: randomUUID(),
    customerId: randomUUID(),
    tokenHash: createHash('sha256').update(randomBytes(32)).digest('hex'),
    ttlMs: 600_000,
    lifeMs: 1_800_000,
    seats,
    amountMinor: 2_800,
    currency: 'EUR',
    quote: {
      currency: 'EUR',
      totalMinor: 2_800,
      lines: seats.map((seat) => ({
        seat,
        quantity: 1,
        category: 'STANDARD',
        amountMinor: 1_400,
        parts: [{ label: 'Standard', amountMinor: 1_400 }],
      })),
    },
    unitsMax: 8,
  }
}

export type Crowd = { granted: number; refused: number; elapsedMs: number }

/** `buyers` of them at once, each asking for the next wish as soon as the last is answered. */
export async function letIn(
  buyers: number,
  wishes: Wish[],
  place: (request: PlaceRequest) => Promise<boolean>,
): Promise<Crowd> {
  const requests = wishes.map(requestFor)
  let next = 0
  let granted = 0
  const startMs = performance.now()
  await Promise.all(
    Array.from({ length: buyers }, async () => {
      for (let request = requests[next++]; request; request = requests[next++]) {
        if (await place(request)) granted++
      }
    }),
  )
  return { granted, refused: wishes.length - granted, elapsedMs: performance.now() - startMs }
}

// A server on opening night has run for hours: every connection has its statements planned before the clock starts, ours and the reference's.
export async function warm(
  sql: Sql,
  connections: number,
  place: (request: PlaceRequest) => Promise<unknown>,
): Promise<void> {
  const shows = await openShows(sql, connections)
  for (const row of 'ABCDEFGH') {
    await Promise.all(shows.map((inventoryId) => place(requestFor({ inventoryId, seats: [`${row}1`, `${row}2`] }))))
  }
}
