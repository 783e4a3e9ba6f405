// Stops asking somebody who does not answer: after some failures running nobody is sent there any more, until a single probe has come back well.

export type Breaker = {
  /** Nobody is to be sent there now. */
  isOpen(): boolean
  /** True for one caller each time the rest is over: that one tries, without anybody waiting for it, and says how it went. */
  mayProbe(): boolean
  succeeded(): void
  failed(): void
}

// One lost packet is no outage; three running are, and with a patience of 100 ms they cost at most the buyers of that moment.
const FAILURES_MAX = 3
const REST_MS = 1_000

export function createBreaker(): Breaker {
  let failures = 0
  let open = false
  let probeAtMs = 0
  return {
    isOpen: () => open,
    mayProbe() {
      const nowMs = performance.now()
      if (!open || nowMs < probeAtMs) return false
      probeAtMs = nowMs + REST_MS
      return true
    },
    succeeded() {
      failures = 0
      open = false
    },
    failed() {
      failures += 1
      if (failures < FAILURES_MAX || open) return
      open = true
      probeAtMs = performance.now() + REST_MS
    },
  }
}
