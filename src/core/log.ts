// The log: one JSON line a fact on stderr, without any secret that opens something and without the values of statements that failed.
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { maskCardNumbers } from './card-numbers.ts'

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
export function createLog(level: LogLevel, stream: { write(line: string): void } = process.stderr): FastifyBaseLogger {
  return Fastify({
    logger: {
      level,
      stream,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: { paths: REDACTED, censor: '[redacted]' },
      serializers: { err: describeError },
    },
  }).log
}

type LoggedError = Error & { code?: unknown; constraint_name?: unknown }

// What our tokens and keys look like, wherever a message quotes them.
const TOKEN = /\b(?:ht|hk|cs)_[\w.-]{20,}/g

/** postgres.js hangs the query and its parameters on its errors, PostgreSQL the offending values: names, addresses, tokens. None is kept. */
function describeError(error: LoggedError) {
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  return {
    type: error.name,
    message: sayable(error),
    ...(error.code === undefined ? {} : { code: String(error.code) }),
    ...(error.constraint_name === undefined ? {} : { constraint: String(error.constraint_name) }),
    ...(error.cause instanceof Error ? { cause: sayable(error.cause) } : {}),
    stack: frames.join('\n'),
  }
}

function sayable({ message, code }: LoggedError): string {
  // Class 22, data exceptions: `invalid input syntax for type integer: "..."`.
  const unquoted = String(code ?? '').startsWith('22') ? message.replace(/"[^"]*"/g, '"..."') : message
  return maskCardNumbers(unquoted.replace(TOKEN, '[redacted]'))
}
