// Whatever is thrown becomes a problem document: expected refusals as they are, the framework's and the database's errors by this one table,
// everything else INTERNAL with nothing in it but the request id.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './http.ts'
import type { Metrics } from './metrics.ts'
import { Problem, type ProblemCode } from './problem.ts'

type Route = { method: string; url: string; pattern: RegExp }

declare module 'fastify' {
  interface FastifyInstance {
    /** Every address with a method, as it was registered. */
    routeList: readonly Route[]
  }
}

const ERRORS_LISTED_MAX = 20
const RETRY_AFTER_S = 1

const FRAMEWORK_CODES: Record<string, ProblemCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'MALFORMED_BODY',
  FST_ERR_BAD_URL: 'MALFORMED_URL',
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
}
// SQLSTATEs: a lock or a statement that took too long, and what should be impossible by the one lock order but is harmless to repeat.
const OVERLOADED_STATES = new Set(['55P03', '57014', '40001', '40P01', '53200', '53300'])
const DATABASE_AWAY = /^(?:CONNECT|ECONN|ENOENT$|EPIPE$|ENOTFOUND$|EAI_AGAIN$|ETIMEDOUT$|57P0|08|25P03$)/
// Text or numbers the database cannot represent that slipped past a schema.
const UNREPRESENTABLE = new Set(['22021', '22P05', '22003', '22008', '22007', '22P02'])

export function replyWithProblems(app: App, metrics: Metrics): void {
  const routes: Route[] = []
  app.decorate('routeList', routes)
  app.addHook('onRoute', ({ method, url }) => {
    if (url.endsWith('*')) return
    const pattern = new RegExp(`^${url.replace(/[.+?^$()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]+')}$`)
    for (const one of [method].flat()) routes.push({ method: one, url, pattern })
  })

  app.setErrorHandler((error: FastifyError, request, reply) => sendProblem(problemOf(error), error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allowed = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
    if (allowed.length === 0 || allowed.includes(request.method)) {
      return sendProblem(new Problem('NOT_FOUND'), null, request, reply)
    }
    reply.header('allow', allowed.join(', '))
    return sendProblem(new Problem('METHOD_NOT_ALLOWED', { allow: allowed }), null, request, reply)
  })

  function sendProblem(problem: Problem, error: Error | null, request: FastifyRequest, reply: FastifyReply) {
    if (problem.status >= 500)
      request.log.error({ reqId: request.id, err: error, code: problem.code }, 'a request failed')
    metrics.problems.inc({ code: problem.code })
    return sendProblemDocument(reply, problem, request.id)
  }
}

export function sendProblemDocument(reply: FastifyReply, problem: Problem, requestId: string): FastifyReply {
  const { retryAfterSeconds } = problem.facts
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply
    .code(problem.status)
    .header('cache-control', 'no-store')
    .type('application/problem+json')
    .serializer((text: unknown) => String(text))
    .send(JSON.stringify(problem.toDocument(requestId)))
}

export function problemOf(error: FastifyError): Problem {
  if (error instanceof Problem) return error
  if (error.validation) return problemOfValidation(error)
  const code = String(error.code ?? '')
  const known = FRAMEWORK_CODES[code]
  if (known) return new Problem(known, known === 'OVERLOADED' ? { retryAfterSeconds: RETRY_AFTER_S } : {})
  if (OVERLOADED_STATES.has(code)) return new Problem('OVERLOADED', { retryAfterSeconds: RETRY_AFTER_S })
  if (DATABASE_AWAY.test(code)) return new Problem('DATABASE_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S })
  if (UNREPRESENTABLE.has(code)) return new Problem('INVALID_REQUEST')
  if (error.statusCode === 413) return new Problem('BODY_TOO_LARGE')
  if (error.statusCode === 400) return new Problem('MALFORMED_BODY')
  return new Problem('INTERNAL')
}

// A parameter of the path that does not fit is an unknown thing, not a wrong request.
function problemOfValidation({ validation = [], validationContext }: FastifyError): Problem {
  if (validationContext === 'params') return new Problem('NOT_FOUND')
  const errors = validation.slice(0, ERRORS_LISTED_MAX).map(({ instancePath, keyword, params, message }) => {
    if (keyword === 'additionalProperties') {
      return { path: `${instancePath}/${params.additionalProperty}`, message: 'is not a field here' }
    }
    return { path: instancePath || '/', message: message ?? 'does not fit' }
  })
  return new Problem('INVALID_REQUEST', { errors })
}
