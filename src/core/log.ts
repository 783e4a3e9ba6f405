// The log: one JSON line a fact on stderr, without any secret that opens something and without the values of statements that failed.
import { Writable } from 'node:stream'
import Fastify, { type FastifyBaseLogger } from 'fastify'

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

// We log neither headers nor bodies on purpose; this is the second line, should a later line of code do so.
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'set-cookie',
  'hold-token',
  'holdToken',
  'token',
  'key',
  'admission',
  'email',
  'tokenHash',
]
const REDACTED = SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`])

/** Fastify brings its logger with it; asking it for one keeps one version in the process. `stream` is for tests. */
export function createLog(level: LogLevel, stream: NodeJS.WritableStream = process.stderr): FastifyBaseLogger {
  return Fastify({
    logger: {
      level,
      stream: stream instanceof Writable ? stream : process.stderr,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: { paths: REDACTED, censor: '[redacted]' },
      serializers: { err: describeError },
    },
  }).log
}

/** postgres.js hangs the query and its parameters on its errors, PostgreSQL the offending values: names, addresses, token hashes. None is kept. */
function describeError(error: Error & { code?: unknown; constraint_name?: unknown; routine?: unknown }) {
  return {
    type: error.name,
    message: error.message,
    ...(error.code === undefined ? {} : { code: String(error.code) }),
    ...(error.constraint_name === undefined ? {} : { constraint: String(error.constraint_name) }),
    ...(error.cause instanceof Error ? { cause: error.cause.message } : {}),
    stack: error.stack ?? '',
  }
}
