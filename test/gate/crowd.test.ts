// The judge of the crowd's book can find what it is there for: two owners, a refusal without a cause, one that stood too long.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Book, judge, type Told } from './crowd.ts'

const TTL_MS = 1_500
const asked = (customerId: string, beganMs: number, by: Told['by'], seats = ['F5']): Told => {
  const inTheWay = by === 'GATE' ? seats : []
  return { customerId, seats, beganMs, endedMs: beganMs + 10, gateMs: 1, by, inTheWay }
}
const book = (some: Partial<Book>): Book => ({ told: [], kept: [], planted: [], violations: [], ...some })

test('two owners of one seat at once are found, one after the other are not', () => {
  const ann = { customerId: 'ann', seats: ['F5', 'F6'], fromMs: 0, untilMs: 100 }
  const ben = { customerId: 'ben', seats: ['F6'], fromMs: 100, untilMs: 200 }
  assert.deepEqual(judge(book({ kept: [ann, ben] }), TTL_MS), [])
  const found = judge(book({ kept: [ann, { ...ben, fromMs: 99 }] }), TTL_MS)
  assert.deepEqual(found, ['F6 had two owners at once'])
})

test('a refusal by the gate needs somebody else at this very seat, not longer ago than a claim lasts', () => {
  const refused = asked('ben', 10_000, 'GATE')
  const verdict = (...causes: Told[]) => judge(book({ told: [...causes, refused] }), TTL_MS).length
  assert.equal(verdict(asked('ann', 9_000, 'HELD')), 0)
  assert.equal(verdict(), 1)
  assert.equal(verdict(asked('ben', 9_000, 'HELD')), 1)
  assert.equal(verdict(asked('ann', 9_000, 'HELD', ['F6'])), 1)
  assert.equal(verdict(asked('ann', 7_000, 'HELD')), 1)
  const planted = [{ seat: 'F5', fromMs: 9_000, untilMs: 10_500 }]
  assert.deepEqual(judge(book({ told: [refused], planted }), TTL_MS), [])
})
