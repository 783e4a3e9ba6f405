// Opens a customer's session: anonymous, by a token and by a cookie at once.
import type {} from '@fastify/cookie' // declares reply.setCookie
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type App, problems, Time } from '#core/http.ts'
import { newUuid } from '#core/ids.ts'
import { SESSION_COOKIE } from './recognise-caller.ts'
import type { Secrets } from './secrets.ts'
import { SESSION_TTL_S, signSession } from './session-token.ts'

type Parts = {
  secrets: Secrets
  config: { publicUrl: string }
  limits: { openSession(request: FastifyRequest, reply: FastifyReply): Promise<void> }
}

export function identityRoutes(app: App, { secrets, config, limits }: Parts): void {
  app.post(
    '/v1/sessions',
    {
      config: { whenPressed: 'first' },
      schema: {
        operationId: 'openSession',
        summary: 'Open a session as a customer',
        description:
          'Anonymous: nothing is asked. Sent with a valid session it renews that one, so that the customer keeps what they hold. Scripts send the token as `Authorization: Bearer`; browsers get it as an HttpOnly cookie as well.',
        tags: ['Identity'],
        response: {
          201: Type.Object({ customerId: Type.String(), token: Type.String(), expiresAt: Time }),
          ...problems('CROSS_ORIGIN', 'TOO_MANY_ATTEMPTS'),
        },
      },
    },
    async (request, reply) => {
      await limits.openSession(request, reply)
      const customerId =
        request.caller.kind === 'customer' ? request.caller.customerId : `cust_${newUuid().replaceAll('-', '')}`
      const session = signSession(secrets.session, customerId, Date.now())
      reply.setCookie(SESSION_COOKIE, session.token, {
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure: config.publicUrl.startsWith('https:'),
        maxAge: SESSION_TTL_S,
      })
      return reply.code(201).send({ customerId, ...session })
    },
  )
}
