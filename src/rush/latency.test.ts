// Percentiles out of buckets are what sorting all answers would have said, 3 % above it at the most.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chanceOf } from './chance.ts'
import { addLatency, newLatency, noteLatency, percentiles } from './latency.ts'

test('percentiles agree with sorted answers within 3 %, from microseconds to minutes, however they were added up', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const chance = chanceOf(seed, 0)
    const [one, other] = [newLatency(), newLatency()]
    const all: number[] = []
    for (let n = 0; n < 5_000; n++) {
      const ms = 0.001 * 60_000_000 ** chance.next()
      all.push(ms)
      noteLatency(n % 3 === 0 ? one : other, ms)
    }
    addLatency(one, other)
    all.sort((a, b) => a - b)
    const seen = percentiles(one)
    assert.equal(seen.answers, all.length)
    assert.equal(seen.maxMs, Math.round((all.at(-1) ?? 0) * 100) / 100)
    for (const [share, ms] of [
      [0.5, seen.p50Ms],
      [0.95, seen.p95Ms],
      [0.99, seen.p99Ms],
    ] as const) {
      const exact = all[Math.ceil(share * all.length) - 1] ?? 0
      assert.ok(
        ms >= exact - 0.006 && ms <= exact * 1.032 + 0.006,
        `seed ${seed}: p${share * 100} ${ms}, exactly ${exact}`,
      )
    }
  }
})

test('without an answer everything is 0', () => {
  assert.deepEqual(percentiles(newLatency()), { answers: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0, maxMs: 0 })
})
