// SB2 over real sockets: who has used up a budget stays without one, however the request is dressed, and only a trusted proxy says who its client is.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type SmallHouse, smallHouse } from '#test/cinema/small-house.ts'

type Dress = {
  path?: (path: string) => string
  version?: '1.0' | '1.1'
  headers?: string[]
  gzip?: boolean
}

const SESSIONS = '/v1/sessions'

// Bytes by hand: a client library would tidy up what is to be tested.
async function post(port: number, from: string, path: string, body: string, dress: Dress = {}): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  await once(socket, 'connect')
  const sent = dress.gzip ? gzipSync(body) : Buffer.from(body)
  const lines = [
    `POST ${(dress.path ?? String)(path)} HTTP/${dress.version ?? '1.1'}`,
    'Host: localhost',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${sent.length}`,
    ...(dress.gzip ? ['Content-Encoding: gzip'] : []),
    ...(dress.headers ?? []),
  ]
  socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), sent]))
  const answer = await text(socket)
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
}

// What the request may be answered instead of 429: an address or a body that means nothing here.
const DRESSES: [name: string, dress: Dress, otherwise: number[]][] = [
  ['plainly', {}, []],
  ['X-Forwarded-For of a stranger', { headers: ['X-Forwarded-For: 203.0.113.9'] }, []],
  ['X-Forwarded-For twice', { headers: ['X-Forwarded-For: 203.0.113.9', 'X-Forwarded-For: 203.0.113.10'] }, []],
  ['X-Forwarded-For of ourselves', { headers: ['X-Forwarded-For: 127.0.0.1, 127.0.0.1'] }, []],
  ['the other headers of proxies', { headers: proxyHeaders('203.0.113.9') }, []],
  ['another Host', { headers: ['X-Forwarded-Host: other.example'] }, []],
  ['another letter case', { path: (path) => path.toUpperCase() }, [404]],
  ['a trailing slash', { path: (path) => `${path}/` }, [404]],
  ['two slashes at the front', { path: (path) => `/${path}` }, [404]],
  ['two slashes within', { path: (path) => path.replace('/v1/', '/v1//') }, [404]],
  ['a dot in the path', { path: (path) => path.replace('/v1/', '/v1/./') }, [404]],
  ['a letter percent-encoded', { path: (path) => path.replace(/s$/, '%73') }, []],
  ['a query', { path: (path) => `${path}?nothing=1` }, []],
  ['a semicolon', { path: (path) => `${path};a=1` }, [404]],
  ['HTTP/1.0', { version: '1.0' }, []],
  ['a compressed body', { gzip: true }, [400, 415]],
  ['a method override', { headers: ['X-HTTP-Method-Override: PUT'] }, []],
]

function proxyHeaders(address: string): string[] {
  return [
    ...['X-Real-IP', 'True-Client-IP', 'CF-Connecting-IP', 'X-Client-IP', 'X-Cluster-Client-IP'].map(
      (name) => `${name}: ${address}`,
    ),
    `Forwarded: for=${address}`,
  ]
}

async function listening(t: TestContext, env: Record<string, string>): Promise<{ house: SmallHouse; port: number }> {
  const house = await smallHouse(t, env)
  await house.app.listen({ port: 0, host: '127.0.0.1' })
  return { house, port: (house.app.server.address() as AddressInfo).port }
}

test('sessions: a used-up address opens none in any dress', async (t) => {
  const { port } = await listening(t, { HOLD_ATTEMPTS_PER_MINUTE: '5', SESSIONS_PER_MINUTE: '3' })
  for (const [index, [name, dress, otherwise]] of DRESSES.entries()) {
    const from = `127.0.1.${index + 1}`
    for (let n = 0; n < 3; n++) assert.equal(await post(port, from, SESSIONS, '{}'), 201, name)
    const status = await post(port, from, SESSIONS, '{}', dress)
    assert.ok([429, ...otherwise].includes(status), `${name}: ${status}`)
  }
})

test('sessions: each dress counts itself: an address that always wears it is used up as well', async (t) => {
  const { port } = await listening(t, { HOLD_ATTEMPTS_PER_MINUTE: '5', SESSIONS_PER_MINUTE: '3' })
  for (const [index, [name, dress, otherwise]] of DRESSES.entries()) {
    if (otherwise.length > 0) continue
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) {
      // A forged header that moved the key would move it each time.
      const headers = dress.headers?.map((line) => line.replaceAll('203.0.113.9', `203.0.113.${100 + n}`))
      statuses.push(await post(port, `127.0.2.${index + 1}`, SESSIONS, '{}', { ...dress, ...(headers && { headers }) }))
    }
    assert.deepEqual(statuses, [201, 201, 201, 429], name)
  }
})

test('holds: the sixth attempt of a customer is refused in any dress and from any address', async (t) => {
  const { house, port } = await listening(t, { HOLD_ATTEMPTS_PER_MINUTE: '5' })
  const path = `/v1/showtimes/${await house.show()}/holds`
  for (const [index, [name, dress, otherwise]] of DRESSES.entries()) {
    const bearer = [`Authorization: ${house.customer().authorization}`]
    for (let n = 0; n < 5; n++) {
      const status = await post(port, `127.0.3.${index + 1}`, path, '{"seats":["F5"]}', { headers: bearer })
      assert.ok([200, 201, 409].includes(status), `${name}: ${status}`)
    }
    const dressed = { ...dress, headers: [...bearer, ...(dress.headers ?? [])] }
    const status = await post(port, `127.0.4.${index + 1}`, path, '{"seats":["F5"]}', dressed)
    assert.ok([429, ...otherwise].includes(status), `${name}: ${status}`)
  }
})

test('only a trusted proxy says who its client is, and hopping within a /64, ports and spellings do not make another', async (t) => {
  const env = { HOLD_ATTEMPTS_PER_MINUTE: '5', SESSIONS_PER_MINUTE: '2', TRUST_PROXY: '127.0.0.10' }
  const { port } = await listening(t, env)
  const through = (forwarded: string[], from = '127.0.0.10') =>
    post(port, from, SESSIONS, '{}', { headers: forwarded.map((value) => `X-Forwarded-For: ${value}`) })
  const sameClient: [name: string, spelled: string[][]][] = [
    ['one address', [['203.0.113.1'], ['203.0.113.1'], ['203.0.113.1']]],
    ['forged on the left', [['1.1.1.1, 203.0.113.2'], ['2.2.2.2, 203.0.113.2'], ['3.3.3.3, 4.4.4.4, 203.0.113.2']]],
    ['doubled', [['1.1.1.1', '203.0.113.3'], ['2.2.2.2', '203.0.113.3'], ['3.3.3.3,203.0.113.3']]],
    ['the trusted proxy twice', [['203.0.113.4, 127.0.0.10'], ['203.0.113.4'], ['127.0.0.10, 203.0.113.4']]],
    ['IPv4 in IPv6', [['203.0.113.5'], ['::ffff:203.0.113.5'], ['::FFFF:cb00:7105']]],
    ['a port', [['203.0.113.6:1001'], ['203.0.113.6:1002'], ['203.0.113.6']]],
    ['a /64', [['2001:db8:0:7::1'], ['2001:DB8:0:7:ffff::9'], ['2001:0db8:0000:0007:a:b:c:d']]],
    ['no address at all', [['unknown'], ['_x1'], ["' or 1=1 --"]]],
  ]
  for (const [name, spelled] of sameClient) {
    const statuses: number[] = []
    for (const forwarded of spelled) statuses.push(await through(forwarded))
    assert.deepEqual(statuses, [201, 201, 429], name)
  }
  for (let n = 0; n < 5; n++) assert.equal(await through([`203.0.113.${20 + n}`]), 201, 'clients apart')
  assert.equal(await through(['2001:db8:0:8::1']), 201, 'the next /64 is another client')
  const untrusted: number[] = []
  for (let n = 0; n < 3; n++) untrusted.push(await through([`198.51.100.${n}`], '127.0.0.11'))
  assert.deepEqual(untrusted, [201, 201, 429], 'a proxy nobody trusts')
})
