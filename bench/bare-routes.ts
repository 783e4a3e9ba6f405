// What the doors of the board are measured against: routes of the same server, behind the same hooks, that send ready-made bytes and think nothing.
import Type from 'typebox'
import { HoldBody } from '#cinema/programme-schemas.ts'
import { type App, IdParam } from '#core/http.ts'

const REFUSAL = Buffer.from(
  '{"type":"about:blank","title":"Some of the seats are not free.","status":409,"code":"SEATS_UNAVAILABLE","detail":"Others hold these seats at this moment; they may come back.","seats":[{"code":"A1","reason":"held"},{"code":"A2","reason":"held"}],"retryable":true,"requestId":"00000000-0000-0000-0000-000000000000"}',
)

export function addBareRoutes(app: App): void {
  app.post('/bench/:id/refusal', { schema: { hide: true, params: IdParam, body: HoldBody } }, async (_, reply) =>
    reply.code(409).type('application/problem+json').send(REFUSAL),
  )

  let map: Buffer | null = null
  app.get('/bench/:id/map', { schema: { hide: true, params: IdParam } }, async (request, reply) => {
    map ??= (await app.inject(`/v1/showtimes/${request.params.id}/seats`)).rawPayload
    return reply.header('etag', '"bare"').type('application/json; charset=utf-8').send(map)
  })

  app.get(
    '/bench/:id/unchanged',
    { schema: { hide: true, params: IdParam, response: { 304: Type.Null() } } },
    async (_, reply) => reply.code(304).header('etag', '"bare"').send(null),
  )
}
