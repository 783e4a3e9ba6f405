// The draw: anybody works out the same order from what was published, no order but that one is believed, and nobody is favoured.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { drawScore, faultOfDraw, hashSeed, orderByDraw } from './draw.ts'

const seed = randomBytes(32).toString('hex')
const crowd = Array.from({ length: 1_000 }, (_, n) => `visitor-${n}`)

test(`the order is that of SHA-256("seed.visitor"), worked out here by other means (seed ${seed})`, () => {
  const digest = (visitor: string) => createHash('sha256').update(`${seed}.${visitor}`).digest('hex')
  const right = crowd.toSorted((a, b) => (digest(a) < digest(b) ? -1 : 1))
  assert.deepEqual(orderByDraw(seed, crowd), right)
  assert.deepEqual(orderByDraw(seed, crowd.toReversed()), right, 'whoever came first')
  assert.equal(hashSeed(seed), createHash('sha256').update(Buffer.from(seed, 'hex')).digest('hex'))
})

test('another seed, two who changed places and somebody who stands there twice are found', () => {
  const order = orderByDraw(seed, crowd)
  const draw = { seed, seedHash: hashSeed(seed), order }
  assert.equal(faultOfDraw(draw), null)
  assert.match(faultOfDraw({ ...draw, seed: 'ff'.repeat(32) }) ?? '', /not the one whose hash/)
  const swapped = order.with(3, order[4] ?? '').with(4, order[3] ?? '')
  assert.match(faultOfDraw({ ...draw, order: swapped }) ?? '', /^Place 4 is/)
  assert.match(faultOfDraw({ ...draw, order: [...order, order[0] ?? ''] }) ?? '', /twice/)
})

test('all who take part stand before all who come later, and the number is exact', () => {
  for (const visitor of crowd) {
    const score = drawScore(seed, visitor)
    assert.ok(score < 0 && Number.isSafeInteger(score))
  }
})

test(`coming first is worth nothing: over 400 seeds the first of ten is first about as often as the last (seed ${seed})`, () => {
  const first = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  for (let n = 0; n < 400; n++) {
    const [winner = ''] = orderByDraw(createHash('sha256').update(`${seed}${n}`).digest('hex'), crowd.slice(0, 10))
    const at = Number(winner.slice(8))
    first[at] = (first[at] ?? 0) + 1
  }
  // 40 are expected; five standard deviations are 30.
  for (const count of first) assert.ok(count > 10 && count < 70, `${first}`)
})
