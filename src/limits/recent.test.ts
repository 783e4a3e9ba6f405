// What is remembered and what is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recent } from './recent.ts'

test('the keys used last are remembered however many come between, and never more than twice the bound', () => {
  const kept = recent<number>(100)
  for (let n = 0; n < 10_000; n++) {
    kept.set(`k${n}`, n)
    if (n > 0 && n % 50 === 0) assert.equal(kept.get('k0'), 0, `after ${n}`)
    for (let back = 0; back < Math.min(n, 50); back += 10) assert.equal(kept.get(`k${n - back}`), n - back)
  }
  const left = Array.from({ length: 10_000 }, (_, n) => kept.get(`k${n}`)).filter((value) => value !== undefined).length
  assert.ok(left >= 100 && left <= 200, `${left} are remembered`)
})
