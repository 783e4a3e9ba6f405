// The description and the server are one: it is valid OpenAPI 3.1, every route stands in it, nothing else does, and each says what a client must know.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { PROBLEMS } from '#core/problem.ts'
import { smallHouse } from '#test/cinema/small-house.ts'
import { testApp } from './test-app.ts'

type Schema = {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean
  anyOf?: Schema[]
}
type Content = Record<string, { schema?: Schema }>
type Operation = {
  operationId?: string
  summary?: string
  tags?: string[]
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: { content: Content }
  responses: Record<string, { description?: string; content?: Content }>
}
type Document = {
  openapi: string
  servers: { url: string }[]
  tags: { name: string }[]
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, Operation>>
}

const describedByThePageItself = (url: string) => url === '/docs' || url.startsWith('/docs/')

async function readDocument(t: Parameters<typeof testApp>[0]) {
  const { app } = await testApp(t, { PUBLIC_URL: 'https://tickets.example' })
  const reply = await app.inject({ url: '/v1/openapi.json' })
  assert.equal(reply.statusCode, 200)
  const document = reply.json<Document>()
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return { app, document, operations }
}

test('the document is valid OpenAPI 3.1', async (t) => {
  const { document } = await readDocument(t)
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  assert.equal(valid, true, JSON.stringify(errors ?? null).slice(0, 3000))
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(document.servers, [{ url: 'https://tickets.example' }])
})

test('every route stands in the document, and everything in the document is a route', async (t) => {
  const { app, operations } = await readDocument(t)
  const routes = app.routeList
    .filter(({ method, url }) => method !== 'HEAD' && method !== 'OPTIONS' && !describedByThePageItself(url))
    .map(({ method, url }) => `${method} ${url.replace(/:([A-Za-z]+)/g, '{$1}')}`)
  const described = operations.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(described.sort(), [...new Set(routes)].sort())
  assert.ok(described.length >= 20, `${described.length} operations`)
})

test('each operation has a name of its own, a sentence, a known tag, its parameters and its refusals', async (t) => {
  const { document, operations } = await readDocument(t)
  const known = new Set(document.tags.map(({ name }) => name))
  const names = operations.map(({ operation }) => operation.operationId)
  assert.equal(new Set(names).size, names.length)
  for (const { method, path, operation } of operations) {
    const where = `${method} ${path}`
    assert.match(operation.operationId ?? '', /^[a-z][A-Za-z]+$/, where)
    assert.ok((operation.summary ?? '').length > 5, where)
    assert.ok(operation.tags?.length && operation.tags.every((tag) => known.has(tag)), `${where}: ${operation.tags}`)
    for (const [, name] of path.matchAll(/\{(\w+)\}/g))
      assert.ok(
        operation.parameters?.some((parameter) => parameter.in === 'path' && parameter.name === name),
        `${where}: ${name}`,
      )
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      assert.ok(description, `${where} ${status} has no description`)
      if (Number(status) >= 400)
        assert.ok(content?.['application/problem+json'], `${where} ${status} is no problem document`)
    }
    if (path.startsWith('/v1/') && path !== '/v1/openapi.json')
      assert.ok(operation.responses.default, `${where} says nothing of other refusals`)
  }
})

test('bodies are closed objects: an unknown field is refused everywhere', async (t) => {
  const { document, operations } = await readDocument(t)
  const resolve = (schema: Schema): Schema =>
    schema.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
  const open = (schema: Schema): boolean => {
    const resolved = resolve(schema)
    if (resolved.anyOf) return resolved.anyOf.some(open)
    return [resolved.type].flat().includes('object') && resolved.additionalProperties !== false
  }
  for (const { method, path, operation } of operations) {
    // A provider's message is verified by its signature and kept as it came.
    if (/callback|webhook/.test(path)) continue
    const schema = operation.requestBody?.content['application/json']?.schema
    if (schema) assert.equal(open(schema), false, `${method} ${path} takes unknown fields`)
  }
})

test('SC10: no field for a card number or its check digits; SA6: none by which a client could set a price, an owner or an end', async (t) => {
  const { document, operations } = await readDocument(t)
  assert.doesNotMatch(JSON.stringify(document), /"(?:pan|cvv|cvc|cardNumber|card_number)"/i)
  for (const { path, operation } of operations) {
    if (path.startsWith('/v1/admin/') || /callback|webhook/.test(path)) continue
    const body = JSON.stringify(operation.requestBody ?? {})
    assert.doesNotMatch(body, /"(?:price|amount|status|customerId|expiresAt|holdId|paid)":/, path)
  }
})

test('the page at /docs is there with all it needs, under a policy that lets nothing in from elsewhere', async (t) => {
  const { app } = await testApp(t)
  const page = await app.inject({ url: '/docs' })
  assert.equal(page.statusCode, 200)
  assert.doesNotMatch(String(page.headers['content-security-policy']), /https:|unsafe-inline|upgrade-insecure/)
  const needed = [...page.body.matchAll(/(?:src|href)="\.?\/?([^"]+)"/g)].map(
    ([, path]) => `/${String(path).replace(/^\.?\//, '')}`,
  )
  assert.ok(needed.length >= 3, page.body)
  for (const url of [...needed, '/docs/json']) assert.equal((await app.inject({ url })).statusCode, 200, url)
})

test('the front page says what runs here and what is on sale, without a script, and every address on it answers', async (t) => {
  const house = await smallHouse(t)
  const show = await house.show()
  const page = await house.get('/')
  assert.equal(page.status, 200)
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'; style-src 'sha256-/)
  assert.doesNotMatch(page.text, /<script/)
  assert.match(page.text, /<html lang="en">/)
  assert.ok(page.text.includes('Léon: The Professional') && page.text.includes(show))
  for (const [, url = ''] of page.text.matchAll(/href="([^"]+)"/g)) assert.ok((await house.get(url)).status < 400, url)
})

test('SD5: a film called like a script is a name and nothing else on the front page', async (t) => {
  const house = await smallHouse(t)
  await house.db.sql`update movies set title = '<img src=x onerror=alert(1)>'`
  await house.show()
  const page = await house.get('/')
  assert.ok(page.text.includes('&lt;img src=x onerror=alert(1)&gt;') && !page.text.includes('<img'))
})

test('every problem code is a sentence with a sensible status', () => {
  for (const [code, [status, sentence]] of Object.entries(PROBLEMS)) {
    assert.match(code, /^[A-Z][A-Z_]+[A-Z]$/)
    assert.ok(status >= 400 && status < 600, code)
    assert.match(sentence, /^[A-Z].*\.$/, code)
  }
})
