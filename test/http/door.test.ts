// What every request meets before its route: broken bodies and addresses, methods, headers, ids.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { test } from 'node:test'
import Type from 'typebox'
import type { App } from '#core/http.ts'
import { closed } from '#core/http.ts'
import { testApp } from './test-app.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

// A door of the test's own: what is read strictly must be so whatever the room.
function echoRoutes(app: App): void {
  app.post(
    '/v1/echo',
    { schema: { body: closed({ text: Type.String(), n: Type.Optional(Type.Integer()) }) } },
    async (request) => request.body,
  )
  app.get(
    '/v1/echo',
    { schema: { querystring: closed({ n: Type.Optional(Type.Integer({ minimum: 0 })) }) } },
    async (request) => request.query,
  )
  app.get('/v1/broken', async () => {
    throw Object.assign(new Error('select secret from table'), {
      code: 'XX000',
      query: 'select',
      parameters: ['secret'],
    })
  })
}

test('bodies are read strictly: exact status and code for each way to break one', async (t) => {
  const { app } = await testApp(t, {}, {}, echoRoutes)
  const cases: [
    name: string,
    payload: string | Buffer,
    headers: Record<string, string>,
    status: number,
    code: string | null,
  ][] = [
    ['good', '{"text":"Zoë 🎬","n":5}', JSON_TYPE, 200, null],
    ['good with charset', '{"text":"a"}', { 'content-type': 'application/json; charset=UTF-8' }, 200, null],
    ['byte order mark', '\ufeff{"text":"a"}', JSON_TYPE, 200, null],
    ['cut', '{"text":"a', JSON_TYPE, 400, 'MALFORMED_BODY'],
    ['trailing data', '{"text":"a"} {}', JSON_TYPE, 400, 'MALFORMED_BODY'],
    ['NaN', '{"text":"a","n":NaN}', JSON_TYPE, 400, 'MALFORMED_BODY'],
    ['single quotes', "{'text':'a'}", JSON_TYPE, 400, 'MALFORMED_BODY'],
    ['raw NUL', '{"text":"a\0"}', JSON_TYPE, 400, 'MALFORMED_BODY'],
    ['raw line break in a text', '{"text":"a\nb"}', JSON_TYPE, 400, 'MALFORMED_BODY'],
    ['__proto__', '{"text":"a","__proto__":{"x":1}}', JSON_TYPE, 400, 'MALFORMED_BODY'],
    ['constructor.prototype', '{"text":"a","constructor":{"prototype":{"x":1}}}', JSON_TYPE, 400, 'MALFORMED_BODY'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), JSON_TYPE, 400, 'MALFORMED_BODY'],
    [
      'UTF-16',
      Buffer.from('{"text":"a"}', 'utf16le'),
      { 'content-type': 'application/json; charset=utf-16' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['xml', '<a/>', { 'content-type': 'application/xml' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['text', '{"text":"a"}', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['form', 'text=a', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['multipart', '--x', { 'content-type': 'multipart/form-data; boundary=x' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['no type', '{"text":"a"}', { 'content-type': '' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['too large', JSON.stringify({ text: 'a'.repeat(70_000) }), JSON_TYPE, 413, 'BODY_TOO_LARGE'],
    ['empty', '', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['null', 'null', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['a list', '[]', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['missing field', '{}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['unknown field', '{"text":"a","price":1}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['number for text', '{"text":5}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['text for number', '{"text":"a","n":"5"}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['infinite number', '{"text":"a","n":1e400}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['a fraction', '{"text":"a","n":1.5}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['escaped NUL', '{"text":"a\\u0000"}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['lone surrogate', '{"text":"\\ud83c"}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['surrogate in a name', '{"text":"a","\\udc00":1}', JSON_TYPE, 422, 'INVALID_REQUEST'],
    ['surrogate pair, escaped', '{"text":"\\ud83c\\udfac"}', JSON_TYPE, 200, null],
    ['30,000 levels', `{"text":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, JSON_TYPE, 422, 'INVALID_REQUEST'],
    [
      '30,000 levels with an escape',
      `{"text":${'['.repeat(30_000)}"\\u0000"${']'.repeat(30_000)}}`,
      JSON_TYPE,
      422,
      'INVALID_REQUEST',
    ],
  ]
  for (const [name, payload, headers, status, code] of cases) {
    const reply = await app.inject({ method: 'POST', url: '/v1/echo', payload, headers })
    assert.equal(reply.statusCode, status, `${name}: ${reply.body.slice(0, 300)}`)
    if (code === null) continue
    assert.equal(reply.json().code, code, name)
    assert.match(String(reply.headers['content-type']), /^application\/problem\+json/, name)
    assert.equal(reply.json().requestId, reply.headers['x-request-id'], name)
  }
})

test('query parameters are decimal numbers or nothing', async (t) => {
  const { app } = await testApp(t, {}, {}, echoRoutes)
  for (const [query, status] of [
    ['n=5', 200],
    ['', 200],
    ['n=-1', 422],
    ['n=1e3', 422],
    ['n=0x10', 422],
    ['n=%205', 422],
    ['n=', 422],
    ['n=05', 422],
    ['n=9999999999999999', 422],
    ['n=5&n=6', 422],
    ['n[]=5', 422],
    ['m=5', 422],
    ['n=%00', 422],
    ['__proto__=5', 422],
  ] as const) {
    const reply = await app.inject({ url: `/v1/echo?${query}` })
    assert.equal(reply.statusCode, status, `${query}: ${reply.body}`)
  }
})

test('an address that does not exist is 404, a wrong method 405 with Allow, broken percent-encoding 400', async (t) => {
  const { app } = await testApp(t, {}, {}, echoRoutes)
  const lost = await app.inject({ url: '/v1/nothing' })
  assert.deepEqual([lost.statusCode, lost.json().code], [404, 'NOT_FOUND'])
  const wrong = await app.inject({ method: 'DELETE', url: '/v1/echo?x=1' })
  assert.deepEqual(
    [wrong.statusCode, wrong.json().code, wrong.headers.allow],
    [405, 'METHOD_NOT_ALLOWED', 'POST, GET, HEAD'],
  )
  const broken = await app.inject({ url: '/v1/%zz' })
  assert.deepEqual([broken.statusCode, broken.json().code], [400, 'MALFORMED_URL'])
})

test('what breaks on our side is 500 with the request id and nothing else of it', async (t) => {
  const { app } = await testApp(t, {}, {}, echoRoutes)
  const reply = await app.inject({ url: '/v1/broken', headers: { 'x-request-id': 'from-the-proxy-1' } })
  assert.equal(reply.statusCode, 500)
  assert.deepEqual([reply.json().code, reply.json().requestId], ['INTERNAL', 'from-the-proxy-1'])
  assert.doesNotMatch(reply.body, /select|secret|XX000/)
})

test('a request id that no proxy would send is replaced', async (t) => {
  const { app } = await testApp(t)
  for (const id of ['<script>alert(1)</script>', 'a', 'x'.repeat(65), 'line\u2028break-and-more']) {
    const reply = await app.inject({ url: '/livez', headers: { 'x-request-id': encodeURI(id) } })
    assert.match(String(reply.headers['x-request-id']), /^[0-9a-f-]{36}$/, id)
  }
})

test('every answer carries the security headers', async (t) => {
  const { app } = await testApp(t)
  for (const url of ['/livez', '/nothing', '/v1/openapi.json']) {
    const { headers } = await app.inject({ url })
    assert.equal(headers['x-content-type-options'], 'nosniff', url)
    assert.match(String(headers['content-security-policy']), /default-src 'none'/, url)
    assert.equal(headers['referrer-policy'], 'same-origin', url)
    assert.equal(headers['strict-transport-security'], undefined, url)
  }
})

test('bytes that are no HTTP get a problem document and the connection closed', async (t) => {
  const { app } = await testApp(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  for (const [sent, status] of [
    ['NONSENSE\r\n\r\n', '400'],
    ['GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', '400'],
    [`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`, '431'],
  ] as const) {
    const socket = connectSocket(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes
    })
    socket.write(sent)
    await once(socket, 'close')
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*"code":"MALFORMED_HTTP"`), sent.slice(0, 40))
  }
})

test('live, ready and measured', async (t) => {
  const { app, db } = await testApp(t)
  assert.equal((await app.inject({ url: '/livez' })).statusCode, 200)
  assert.equal((await app.inject({ url: '/readyz' })).statusCode, 200)
  const { body } = await app.inject({ url: '/metrics' })
  assert.match(body, /holdfast_http_request_duration_seconds_count\{method="GET",route="\/livez",status="200"\} 1/)
  await db.drop()
  const away = await app.inject({ url: '/readyz' })
  assert.deepEqual([away.statusCode, away.json().code, away.headers['retry-after']], [503, 'DATABASE_UNAVAILABLE', '1'])
})
