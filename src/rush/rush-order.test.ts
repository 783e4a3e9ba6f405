// What makes no sense is refused in one sentence that says what would.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartRefused } from '#database/start-refused.ts'
import { type RushValues, readRushOrder } from './rush-order.ts'

const REFUSED: [RushValues, RegExp][] = [
  [{}, /^Say what to rush: either --url .* or --own-system\.$/],
  [{ url: 'http://localhost:3000', 'own-system': true }, /^Say what to rush: /],
  [{ url: 'localhost:3000' }, /^--url is "localhost:3000", but must be http\(s\):\/\/host/],
  [{ url: 'http://user:password@localhost' }, /^--url is /],
  [{ 'own-system': true, show: 'show_1' }, /^--show and --admin-key are for a running system/],
  [{ url: 'http://localhost', seats: '100' }, /^--processes, --seats and --room are for a system of its own/],
  [{ 'own-system': true, buyers: '0' }, /^--buyers is "0", but must be a whole number from 1 to 1000000\.$/],
  [{ 'own-system': true, buyers: '1e3' }, /^--buyers is "1e3", but must be a whole number/],
  [{ 'own-system': true, seed: '-1' }, /^--seed is "-1", but must be a whole number/],
  [{ 'own-system': true, report: 'rush.pdf' }, /^--report is "rush\.pdf", but must be a file that ends with \.html\.$/],
]

test('options that make no sense are refused', () => {
  for (const [values, sentence] of REFUSED)
    assert.throws(
      () => readRushOrder(values, 1),
      (error) => error instanceof StartRefused && sentence.test(error.message),
      JSON.stringify(values),
    )
})

test('what is not said has a default; the seed is the one that was drawn', () => {
  const order = readRushOrder({ url: 'http://localhost:3000/' }, 4_711)
  assert.deepEqual(
    [order.url, order.buyers, order.seconds, order.seed, order.connections, order.json, order.reportFile],
    ['http://localhost:3000', 10_000, 30, 4_711, 1_000, false, null],
  )
  assert.equal(readRushOrder({ 'own-system': true, workers: '8', buyers: '3' }, 1).workers, 3)
})
