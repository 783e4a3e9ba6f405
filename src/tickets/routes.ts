// A ticket's QR for its owner, and the public keys for the doors.
import Type from 'typebox'
import { type App, IdParam, problems } from '#core/http.ts'
import type { Sql } from '#database/connect.ts'
import { ticketFileRoutes } from './file-routes.ts'
import { qrPng, qrSvg } from './qr-image.ts'
import { findTicket } from './read-tickets.ts'
import { rawPublicKey, type TicketKey } from './ticket-key.ts'
import type { TicketPrinter } from './ticket-printer.ts'

type Parts = { sql: Sql; ticketKey: TicketKey; printer: TicketPrinter }

export function ticketRoutes(app: App, { sql, ticketKey, printer }: Parts): void {
  ticketFileRoutes(app, { sql, printer })
  const tags = ['Bookings']
  const image = (type: string) => ({
    200: { description: 'The QR', content: { [type]: { schema: Type.Unsafe<string | Buffer>(Type.String()) } } },
    ...problems('NOT_FOUND'),
  })

  app.get(
    '/v1/tickets/:id/qr.svg',
    {
      schema: {
        operationId: 'getTicketQrSvg',
        summary: 'A ticket’s QR as SVG',
        tags,
        params: IdParam,
        response: image('image/svg+xml'),
      },
    },
    async (request, reply) => {
      const { code } = await findTicket(sql, request.params.id, request)
      return reply.type('image/svg+xml').serializer(String).send(qrSvg(code))
    },
  )

  app.get(
    '/v1/tickets/:id/qr.png',
    {
      schema: {
        operationId: 'getTicketQrPng',
        summary: 'A ticket’s QR as PNG',
        tags,
        params: IdParam,
        response: image('image/png'),
      },
    },
    async (request, reply) => {
      const { code } = await findTicket(sql, request.params.id, request)
      return reply.type('image/png').send(qrPng(code))
    },
  )

  app.get(
    '/v1/tickets/keys',
    {
      schema: {
        operationId: 'getTicketKeys',
        summary: 'The public keys that verify tickets',
        description:
          'A code is `HF1.<payload>.<signature>` in base64url. The signature (Ed25519) is over `HF1.<payload>`; the payload is key id (4 bytes), number of the showtime (6, big-endian) and ticket (16).',
        tags,
        response: {
          200: Type.Object({
            items: Type.Array(
              Type.Object({
                id: Type.String({ description: 'The key id, hex' }),
                status: Type.Literal('ACTIVE'),
                algorithm: Type.Literal('Ed25519'),
                publicKey: Type.String({ description: '32 bytes, base64url' }),
              }),
            ),
            nextCursor: Type.Null(),
          }),
          ...problems(),
        },
      },
    },
    async () => ({
      items: [
        {
          id: ticketKey.keyId.toString('hex'),
          status: 'ACTIVE' as const,
          algorithm: 'Ed25519' as const,
          publicKey: rawPublicKey(ticketKey.publicKey),
        },
      ],
      nextCursor: null,
    }),
  )
}
