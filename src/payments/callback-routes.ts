// Where providers bring their messages. The body is kept as the bytes that came: a signature is over bytes, not over what they mean.
import Type from 'typebox'
import { type App, closed, problems } from '#core/http.ts'
import { Problem } from '#core/problem.ts'
import type { Sql } from '#database/connect.ts'
import { findProvider, type Providers } from './providers/provider.ts'
import { type LatePolicy, receiveCallback } from './receive-callback.ts'

type Parts = { sql: Sql; providers: Providers; config: LatePolicy; wake: (worker: string) => void }

const Received = Type.Object({ received: Type.Literal(true) })

export function callbackRoutes(app: App, parts: Parts): void {
  const describe = (operationId: string, summary: string) => ({
    operationId,
    summary,
    description:
      'Signed with the headers of Standard Webhooks. 200 for whatever was understood, also a duplicate and what does not fit our books: it is kept and a person looks at it. 5xx when our own work failed: send it again.',
    tags: ['Payments'],
    response: { 200: Received, ...problems('SIGNATURE_INVALID', 'CALLBACK_UNREADABLE') },
  })

  // Money that arrives is never told to wait.
  const config = { whenPressed: 'never' } as const
  // A context of its own, so that nothing here ever parses a body.
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    const receive = async (
      request: { body: unknown; headers: import('node:http').IncomingHttpHeaders },
      name?: string,
    ) => {
      const provider = name === undefined ? parts.providers[0] : findProvider(parts.providers, name)
      if (!provider) throw new Problem('NOT_FOUND')
      const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      await receiveCallback(parts, provider, { rawBody, headers: request.headers })
      return { received: true as const }
    }

    raw.post(
      '/v1/payments/callback',
      { config, schema: describe('receiveCallback', 'A message of the payment provider') },
      (request) => receive(request),
    )
    raw.post(
      '/v1/payments/webhook',
      { config, schema: describe('receiveWebhook', 'The same, under the name that some providers expect') },
      (request) => receive(request),
    )
    raw.post<{ Params: { provider: string } }>(
      '/v1/payments/:provider/callback',
      {
        config,
        schema: {
          ...describe('receiveProviderCallback', 'A message of one of several payment providers'),
          params: closed({ provider: Type.String({ maxLength: 32 }) }),
        },
      },
      (request) => receive(request, request.params.provider),
    )
  })
}
