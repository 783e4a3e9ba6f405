// The gate: an early no between processes, before the database is asked. It never says yes for the database; without one, the database answers alone.

/**
 * OPEN: it knows nothing (there is none, or Redis is away, slow or talks nonsense): ask the database. CLAIMED: nobody else is after these seats at this
 * moment: ask the database. TAKEN: somebody else is, at these.
 */
export type Claim = { outcome: 'OPEN' | 'CLAIMED' } | { outcome: 'TAKEN'; seats: string[] }

/** Neither verb ever rejects, and neither takes longer than the gate's patience. What a customer claimed never stands in that customer's own way. */
export type Gate = {
  /** The distinct seats, all or none, for a time that ends by itself. */
  claim(inventoryId: number, seats: string[], customerId: string): Promise<Claim>
  /** Gives back what this customer has claimed of these seats, after the fact and at best: the claim ends by itself anyway. */
  free(inventoryId: number, seats: string[], customerId: string): Promise<void>
  /** How long a claim lasts at most. */
  readonly claimTtlMs: number
  /** Whether it lets everybody pass at this moment although there is one. */
  standsOpen(): boolean
}

export const noGate: Gate = {
  claim: async () => ({ outcome: 'OPEN' }),
  free: async () => {},
  claimTtlMs: 0,
  standsOpen: () => false,
}
