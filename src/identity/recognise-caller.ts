// The first thing that happens to a request: who is asking (Bearer before cookie), with which hold token, and whether a browser was tricked into asking.
import type {} from '@fastify/cookie' // declares request.cookies
import type { FastifyRequest } from 'fastify'
import type { App } from '#core/http.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { type ApiKey, createKeyFinder } from './api-keys.ts'
import type { Caller } from './caller.ts'
import { isHoldToken } from './hold-token.ts'
import type { Secrets } from './secrets.ts'
import { verifySession } from './session-token.ts'

export const SESSION_COOKIE = 'holdfast_session'
const NAMED_CUSTOMER = /^[A-Za-z0-9_-]{1,64}$/
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i
const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

type Parts = { sql: Sql; secrets: Secrets; config: { publicUrl: string; corsOrigins: readonly string[] } }

export function recogniseCallers(app: App, { sql, secrets, config }: Parts): void {
  const findKey = createKeyFinder(sql)
  const ours = new Set([new URL(config.publicUrl).origin, ...config.corsOrigins])

  app.decorateRequest('caller')
  app.decorateRequest('holdToken', null)
  app.addHook('onRequest', async (request) => {
    request.caller = { kind: 'anonymous' }
    request.holdToken = holdTokenHeader(request)
    const { authorization } = request.headers
    if (authorization !== undefined) {
      const token = BEARER.exec(authorization)?.[1]
      if (token === undefined) throw new Problem('UNAUTHENTICATED')
      if (isHoldToken(token)) request.holdToken = token
      else request.caller = await callerOfToken(token, request)
    }
    if (request.caller.kind === 'anonymous') request.caller = callerOfCookie(request)
  })

  async function callerOfToken(token: string, request: FastifyRequest): Promise<Caller> {
    if (token.startsWith('cs_')) {
      const customerId = verifySession(secrets.session, token, Date.now())
      if (customerId) return { kind: 'customer', customerId }
    } else {
      const key = await findKey(token)
      if (key) return { kind: 'key', ...key, actsFor: namedCustomer(key, request) }
    }
    throw new Problem('UNAUTHENTICATED', { detail: 'The token or key sent as Bearer is not valid, or not any more.' })
  }

  // A browser sends the cookie along whoever made it ask; only then must the page that asks be ours. A cookie that ran out makes nobody of the caller.
  function callerOfCookie(request: FastifyRequest): Caller {
    const token = request.cookies[SESSION_COOKIE]
    const customerId = token === undefined ? null : verifySession(secrets.session, token, Date.now())
    if (!customerId) return { kind: 'anonymous' }
    if (!READING.has(request.method) && !comesFromUs(request)) throw new Problem('CROSS_ORIGIN')
    return { kind: 'customer', customerId }
  }

  function comesFromUs({ headers }: FastifyRequest): boolean {
    const { origin } = headers
    if (headers['sec-fetch-site'] === 'same-origin') return true
    if (origin === undefined || !URL.canParse(origin)) return false
    // The Host header is set by the browser: an Origin with the same host is the page of this very address, whatever PUBLIC_URL says.
    return ours.has(origin) || (headers['sec-fetch-site'] === undefined && new URL(origin).host === headers.host)
  }
}

function holdTokenHeader(request: FastifyRequest): string | null {
  const given = request.headers['hold-token']
  return typeof given === 'string' && isHoldToken(given) ? given : null
}

function namedCustomer(key: ApiKey, request: FastifyRequest): string | null {
  const named = request.headers['holdfast-customer']
  if (named === undefined) return null
  if (typeof named !== 'string' || !NAMED_CUSTOMER.test(named))
    throw new Problem('INVALID_REQUEST', {
      errors: [{ path: '/headers/holdfast-customer', message: 'has 1 to 64 letters, digits, _ or -' }],
    })
  const desk = key.roles.includes('admin') || key.roles.includes('box_office') ? 'staff' : 'partner'
  return `${desk}-${key.keyId}-${named}`
}
