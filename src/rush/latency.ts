// How long answers took: counts in buckets that are 3 % wide, as an HDR histogram has them, so that millions of answers cost a few hundred numbers.

/** `counts`: bucket -> answers. Survives the way between processes. */
export type Latency = { counts: Map<number, number>; answers: number; maxMs: number }

export type Percentiles = { answers: number; p50Ms: number; p95Ms: number; p99Ms: number; maxMs: number }

// In microseconds: exact below 64, then 32 buckets for each doubling.
const EXACT_BELOW = 64
const STEPS_BITS = 5
const US_MAX = 2 ** 31 - 1

export function newLatency(): Latency {
  return { counts: new Map(), answers: 0, maxMs: 0 }
}

export function noteLatency(latency: Latency, ms: number): void {
  const bucket = bucketOf(Math.min(US_MAX, Math.max(0, Math.round(ms * 1000))))
  latency.counts.set(bucket, (latency.counts.get(bucket) ?? 0) + 1)
  latency.answers++
  latency.maxMs = Math.max(latency.maxMs, ms)
}

export function addLatency(into: Latency, more: Latency): void {
  for (const [bucket, count] of more.counts) into.counts.set(bucket, (into.counts.get(bucket) ?? 0) + count)
  into.answers += more.answers
  into.maxMs = Math.max(into.maxMs, more.maxMs)
}

/** Never below the true value, and at most 3 % above it; zeros when nothing was answered. */
export function percentiles(latency: Latency): Percentiles {
  const sorted = [...latency.counts].sort(([a], [b]) => a - b)
  const at = (share: number) => {
    let left = Math.ceil(latency.answers * share)
    for (const [bucket, count] of sorted) {
      left -= count
      if (left <= 0) return round(Math.min(latency.maxMs, upperEnd(bucket) / 1000))
    }
    return 0
  }
  const { answers, maxMs } = latency
  return { answers, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: round(maxMs) }
}

function bucketOf(us: number): number {
  if (us < EXACT_BELOW) return us
  const shift = 31 - Math.clz32(us) - STEPS_BITS
  return (shift << STEPS_BITS) + (us >>> shift)
}

function upperEnd(bucket: number): number {
  if (bucket < EXACT_BELOW) return bucket
  const shift = (bucket >> STEPS_BITS) - 1
  return ((bucket & 31) + 32 + 1) * 2 ** shift - 1
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
