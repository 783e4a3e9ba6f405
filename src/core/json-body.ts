// Reads request bodies and query parameters strictly: JSON in UTF-8, no field that poisons a prototype, no text the database cannot store.
import type { FastifyRequest, FastifySchema } from 'fastify'
import type { App } from './http.ts'
import { Problem } from './problem.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })
// NUL and halves of surrogate pairs can only come in as escapes: raw they are not UTF-8, or not JSON. Most bodies have none and are not walked.
const SUSPECT_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i
const WHOLE_NUMBER = /^-?(?:0|[1-9][0-9]{0,14})$/

export function readBodiesStrictly(app: App): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const text = decode(request, bytes as Buffer)
    if (text instanceof Problem) return done(text)
    if (text === '') return done(null, undefined)
    // The message of the parser quotes the body, which may hold a secret; where it broke is not worth that.
    parseJson(request, text, (error, body) => {
      if (error) return done(new Problem('MALFORMED_BODY'))
      const odd = SUSPECT_ESCAPE.test(text) ? findUnstorable(body) : null
      done(odd === null ? null : unstorable(odd || '/'), body)
    })
  })
  // What a button of a plain HTML form sends when the form has no fields.
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, bytes, done) => {
    done(bytes.length === 0 ? null : new Problem('UNSUPPORTED_MEDIA_TYPE'), undefined)
  })
  app.addHook('preValidation', (request, _reply, done) => done(readQuery(request)))
}

function decode(request: FastifyRequest, bytes: Buffer): string | Problem {
  const charset = CHARSET.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  if (!/^utf-?8$/i.test(charset)) return new Problem('UNSUPPORTED_MEDIA_TYPE', { detail: 'Send JSON in UTF-8.' })
  try {
    return UTF8.decode(bytes)
  } catch {
    return new Problem('MALFORMED_BODY', { detail: 'The body is not UTF-8.' })
  }
}

// Parameters are text; where the schema wants a number, exactly a decimal number becomes one. Nothing else is converted, in bodies nothing at all:
// "1e3", " 5" and "0x10" stay text and are refused by the schema.
function readQuery(request: FastifyRequest): Problem | undefined {
  const query = request.query as Record<string, unknown>
  const schema = (request.routeOptions.schema as FastifySchema | undefined)?.querystring
  const properties = (schema as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {}
  for (const [name, value] of Object.entries(query)) {
    if (findUnstorable(value) !== null) return unstorable(`/${name}`)
    if (typeof value !== 'string') continue
    const { type } = Object.hasOwn(properties, name) ? (properties[name] ?? {}) : {}
    if (type === 'integer' && WHOLE_NUMBER.test(value)) query[name] = Number(value)
    if (type === 'boolean' && (value === 'true' || value === 'false')) query[name] = value === 'true'
  }
  return undefined
}

/** The path of the first text that PostgreSQL cannot store, null when there is none. Without recursion: 64 KiB can nest 30,000 deep. */
function findUnstorable(root: unknown): string | null {
  const left: { value: unknown; path: string }[] = [{ value: root, path: '' }]
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, path } = next
    if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return path
    if (value === null || typeof value !== 'object') continue
    for (const [name, inner] of Object.entries(value)) {
      if (name.includes('\0') || !name.isWellFormed()) return path
      left.push({ value: inner, path: path.length > 200 ? path : `${path}/${name}` })
    }
  }
  return null
}

function unstorable(path: string): Problem {
  return new Problem('INVALID_REQUEST', {
    errors: [{ path, message: 'must not contain NUL or half a surrogate pair' }],
  })
}
