// Our HMAC is the HMAC: the same bytes as Node's own for every key length we allow and any text.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { macOf } from './mac.ts'

test('the bytes of createHmac, for any secret up to a block and any message', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.string({ unit: 'binary', maxLength: 300 }), (secret, message) => {
      const right = createHmac('sha256', secret).update(message).digest()
      assert.deepEqual(macOf(Buffer.from(secret))(message), right)
    }),
  )
})

test('RFC 4231, test case 2', () => {
  const mac = macOf(Buffer.from('Jefe'))('what do ya want for nothing?')
  assert.equal(mac.toString('hex'), '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
})

test('a secret longer than a block is refused', () => {
  assert.throws(() => macOf(Buffer.alloc(65)), RangeError)
})
