// The line against a sorted array: the same ranks, the same first, after any joins and leavings; and fast at a hundred thousand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RankedLine } from './ranked-line.ts'

type Entry = { score: number; visitor: string }
const inOrder = (a: Entry, b: Entry) => a.score - b.score || (a.visitor < b.visitor ? -1 : 1)

test('any joins and leavings: length, first and every rank are those of a sorted array', () => {
  const change = fc.record({ score: fc.integer({ min: -40, max: 40 }), leave: fc.boolean() })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
      const line = new RankedLine()
      let right: Entry[] = []
      for (const [n, { score, leave }] of changes.entries()) {
        const gone = right[Math.abs(score) % Math.max(1, right.length)]
        if (leave && gone) {
          assert.equal(line.remove(gone.score, gone.visitor), true)
          assert.equal(line.remove(gone.score, gone.visitor), false)
          right = right.filter((entry) => entry !== gone)
        } else {
          line.add(score, `v${n}`)
          right.push({ score, visitor: `v${n}` })
          right.sort(inOrder)
        }
        assert.equal(line.length, right.length)
        assert.deepEqual(line.first(), right[0])
      }
      assert.deepEqual(
        right.map(({ score, visitor }) => line.rank(score, visitor)),
        right.map((_, rank) => rank),
      )
    }),
  )
})

test('a line of 100,000: many chunks are cut and emptied, and nobody is lost', () => {
  const line = new RankedLine()
  const scoreOf = (n: number) => (n * 7_919) % 100_003
  for (let n = 0; n < 100_000; n++) line.add(scoreOf(n), `v${n}`)
  const scores = Array.from({ length: 100_000 }, (_, n) => scoreOf(n)).sort((a, b) => a - b)
  for (let n = 0; n < 100_000; n += 997) assert.equal(scores[line.rank(scoreOf(n), `v${n}`)], scoreOf(n))
  for (const score of scores) {
    const first = line.first()
    assert.equal(first?.score, score)
    assert.ok(first && line.remove(first.score, first.visitor))
  }
  assert.equal(line.length, 0)
})
