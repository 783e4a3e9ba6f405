// What a partner must not have us call: everything that is not the public internet, however it is written and whatever its name says a moment later.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { POST_MS, postMessage } from './post-message.ts'
import { isPublicAddress, type Reach, readTarget, resolveBySystem, resolveTarget } from './public-address.ts'

const STRICT: Reach = { allowPrivate: false, resolve: resolveBySystem }
const OPEN: Reach = { allowPrivate: true, resolve: resolveBySystem }
const MESSAGE = { headers: {}, body: Buffer.from('{}') }

const REFUSED = [
  'http://example.com/',
  'file:///etc/passwd',
  'ftp://example.com/',
  'gopher://example.com/',
  'javascript:alert(1)',
  'not an address',
  '',
  'https://',
  'https://user@example.com/',
  'https://user:secret@example.com/',
  'https://127.0.0.1@169.254.169.254/',
  'https://example.com/#fragment',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.255.255.254/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://10.255.255.255:8443/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.0.0.1/',
  'https://192.168.1.1/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::127.0.0.1]/',
  'https://[fe80::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[ff02::1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[2001:db8::1]/',
  'https://[fe80::1%25eth0]/',
  'https://①②⑦.⓪.⓪.①/',
  `https://example.com/${'x'.repeat(2_000)}`,
]

for (const address of REFUSED) {
  test(`refused: ${address.slice(0, 60) || '(nothing)'}`, async () => {
    assert.throws(() => readTarget(address, STRICT), { code: 'WEBHOOK_URL_REFUSED' })
    await assert.rejects(postMessage(address, MESSAGE, STRICT), { code: 'WEBHOOK_URL_REFUSED' })
  })
}

test('allowed: https, a name or a public address, any port and path', () => {
  for (const address of ['https://example.com/hooks?x=1', 'https://8.8.8.8:8443/', 'https://[2606:4700:4700::1111]/'])
    assert.equal(readTarget(address, STRICT).protocol, 'https:')
  assert.ok(isPublicAddress('172.32.0.1') && isPublicAddress('11.0.0.1') && isPublicAddress('2a00:1450::1'))
})

test('a name that means our own machine is refused when it is given: localhost, and one public address among private ones does not help', async () => {
  await assert.rejects(resolveTarget('localhost', STRICT), { code: 'WEBHOOK_URL_REFUSED' })
  const mixed: Reach = { ...STRICT, resolve: async () => [v4('8.8.8.8'), v4('10.0.0.5')] }
  await assert.rejects(resolveTarget('mixed.example', mixed), { code: 'WEBHOOK_URL_REFUSED' })
  const unknown: Reach = { ...STRICT, resolve: () => Promise.reject(new Error('ENOTFOUND')) }
  await assert.rejects(resolveTarget('unknown.example', unknown), { code: 'WEBHOOK_URL_REFUSED' })
})

test('DNS rebinding: a name that was public when it was given and is loopback when it is called gets nothing', async (t) => {
  const { port, calls } = await receiver(t, (_, reply) => reply.end())
  let asked = 0
  const rebinding: Reach = { ...STRICT, resolve: async () => [v4(asked++ === 0 ? '8.8.8.8' : '127.0.0.1')] }
  await resolveTarget('rebinding.example', rebinding)
  await assert.rejects(postMessage(`https://rebinding.example:${port}/`, MESSAGE, rebinding), {
    code: 'WEBHOOK_URL_REFUSED',
  })
  assert.deepEqual([asked, calls.length], [2, 0])
})

test('negative control: the same call arrives when private addresses are allowed', async (t) => {
  const { port, calls } = await receiver(t, (_, reply) => reply.end())
  const open: Reach = { allowPrivate: true, resolve: async () => [v4('127.0.0.1')] }
  assert.equal(await postMessage(`http://rebinding.example:${port}/`, MESSAGE, open), 200)
  assert.equal(calls.length, 1)
})

test('a redirect is an answer, and is not followed', async (t) => {
  const inner = await receiver(t, (_, reply) => reply.end('metadata'))
  const outer = await receiver(t, (_, reply) =>
    reply.writeHead(307, { location: `http://127.0.0.1:${inner.port}/latest/meta-data/` }).end(),
  )
  assert.equal(await postMessage(`http://127.0.0.1:${outer.port}/`, MESSAGE, OPEN), 307)
  assert.deepEqual([outer.calls.length, inner.calls.length], [1, 0])
})

test('an answer without an end is cut, and its status counts', async (t) => {
  let sent = 0
  const { port } = await receiver(t, (_, reply) => {
    const pour = () => {
      while (!reply.destroyed && reply.write(Buffer.alloc(16_384))) sent += 16_384
      if (!reply.destroyed) reply.once('drain', pour)
    }
    reply.writeHead(200)
    pour()
  })
  assert.equal(await postMessage(`http://127.0.0.1:${port}/`, MESSAGE, OPEN), 200)
  assert.ok(sent < 10_000_000, `${sent} bytes were taken`)
})

test('a receiver that does not answer is given up after its limit', async (t) => {
  const { port } = await receiver(t, () => {})
  const startedMs = performance.now()
  await assert.rejects(postMessage(`http://127.0.0.1:${port}/`, MESSAGE, OPEN))
  const tookMs = performance.now() - startedMs
  assert.ok(tookMs >= POST_MS - 100 && tookMs < POST_MS + 3_000, `${tookMs} ms`)
})

test('a receiver that answers a byte a second is given up after the same limit', async (t) => {
  const { port } = await receiver(t, (_, reply) => {
    reply.writeHead(200)
    const drip = setInterval(() => reply.write('.'), 1_000)
    reply.once('close', () => clearInterval(drip))
  })
  const startedMs = performance.now()
  await postMessage(`http://127.0.0.1:${port}/`, MESSAGE, OPEN).catch(() => {})
  assert.ok(performance.now() - startedMs < POST_MS + 3_000)
})

function v4(address: string) {
  return { address, family: 4 }
}

async function receiver(t: TestContext, answer: (request: IncomingMessage, reply: ServerResponse) => unknown) {
  const calls: string[] = []
  const server: Server = createServer((request, reply) => {
    calls.push(request.url ?? '')
    answer(request, reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, calls }
}
