// The OpenAPI 3.1 description, made from the very schemas that validate, and its browsable page.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Type from 'typebox'
import type { App } from './http.ts'

const TAGS = [
  ['Identity', 'Who is asking: sessions of customers, keys of partners and staff.'],
  ['Cinema', 'What is on, where, on which seats and at which price.'],
  ['Waiting room', 'The queue before a hot sale: who waits, who is admitted, and the draw to check.'],
  ['Holds', 'Seats kept for one customer while they pay.'],
  ['Payments', 'From a hold to a booking.'],
  ['Promotions', 'Promo codes and gift vouchers, for those who issue them.'],
  ['Sandbox', 'The built-in payment provider, to try everything with.'],
  ['Bookings', 'What was ordered, its tickets, its cancellation.'],
  ['Admin', 'For keys with a role.'],
  ['Webhooks', 'Partners are told of their bookings, signed, at their own address.'],
  ['Operations', 'For those who run it.'],
] as const

const DESCRIPTION = `Holds a scarce thing for one buyer while they pay, sells it to nobody else, and puts it back on sale the instant the hold runs out.

Errors are RFC 9457 problem documents with a stable \`code\`. Money is \`{amount, currency}\` in minor units. Times are RFC 3339 in UTC.
A hold is live if and only if now < \`expiresAt\`, on the server's clock: count down from \`remainingMs\`.`

export async function describeApi(app: App, config: { publicUrl: string }): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Holdfast',
        version: '0.1.0',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: config.publicUrl }],
      tags: TAGS.map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A session token (cs_...) or an API key (hk_...).' },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'holdfast_session',
            description: 'The same session, in a browser.',
          },
          holdToken: { type: 'apiKey', in: 'header', name: 'Hold-Token', description: 'Proves who holds (ht_...).' },
        },
      },
      security: [{}, { bearer: [] }, { cookie: [] }, { holdToken: [] }],
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `Shape${index}`) },
  })
  // The page brings scripts and styles of its own, and the policy that allows exactly these.
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Its own policy would force https on a page served by http, and let it ask a validator elsewhere.
    transformStaticCSP: (policy) =>
      policy
        .replace(/\s*upgrade-insecure-requests;?/, '')
        .replaceAll(/ (?:https:|validator\.swagger\.io)(?=[ ;])/g, ''),
    uiConfig: { validatorUrl: null },
  })

  app.get(
    '/v1/openapi.json',
    {
      schema: {
        operationId: 'getOpenApi',
        summary: 'This description',
        tags: ['Operations'],
        response: { 200: Type.Object({}, { additionalProperties: true, description: 'OpenAPI 3.1' }) },
      },
    },
    async (_request, reply) => {
      return reply.header('cache-control', 'public, max-age=60').send(app.swagger() as Record<string, unknown>)
    },
  )
}
