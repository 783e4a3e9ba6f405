// How long a hold still has, for people's countdowns; no decision is made by it.

/** Both RFC 3339 texts of the database's one clock. Milliseconds, never below zero. */
export function remainingMs(expiresAt: string, asOf: string): number {
  return Math.max(0, Date.parse(expiresAt) - Date.parse(asOf))
}
