// SC10: a card number is refused at the door wherever a text can stand, and is masked should a message quote one. Ids and times are no card numbers.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import Type from 'typebox'
import { testApp } from '#test/http/test-app.ts'
import { maskCardNumbers } from './card-numbers.ts'
import { closed } from './http.ts'
import { createLog } from './log.ts'

const CARDS = [
  '4111111111111111',
  '4111 1111 1111 1111',
  '4111-1111-1111-1111',
  '378282246310005',
  '6304000000000000000',
]
const NONE = [
  '4111111111111112',
  '411111111111',
  'pay_42_41111111111111114111111111111111',
  '2026-12-01T04:11:11.111111Z',
]

test('in a body however deep, in a query, among words: 422 with the place and without the number', async (t) => {
  const anything = Type.Object({}, { additionalProperties: true })
  const { app } = await testApp(t, {}, {}, (server) => {
    const schema = { body: anything, querystring: closed({ q: Type.Optional(Type.String()) }) }
    server.post(
      '/test/anything',
      { schema: { operationId: 'anything', summary: 'Anything', ...schema } },
      async () => ({}),
    )
  })
  const post = (payload: object, query = '') => app.inject({ method: 'POST', url: `/test/anything${query}`, payload })
  for (const card of CARDS) {
    for (const payload of [{ name: `my card ${card}, thanks` }, { a: [{ b: card }] }, { [card]: 1 }]) {
      const reply = await post(payload)
      assert.equal(reply.statusCode, 422, JSON.stringify(payload))
      assert.ok(!reply.body.includes(card))
    }
    assert.equal((await post({}, `?q=${encodeURIComponent(card)}`)).statusCode, 422)
  }
  for (const text of NONE) assert.equal((await post({ text })).statusCode, 200, text)
})

test('ten thousand random ids are no card numbers', () => {
  for (let n = 0; n < 10_000; n++) {
    const uuid = randomUUID()
    for (const id of [uuid, `book_1_${uuid.replaceAll('-', '')}`]) assert.equal(maskCardNumbers(id), id)
  }
})

test('an error that quotes one is logged without it', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  log.error({ err: new Error('duplicate key (name)=(4111 1111 1111 1111)') }, 'failed')
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /\[card number\]/)
  assert.doesNotMatch(lines[0] ?? '', /4111/)
})
