// The door of the live seats: a stream for everybody who looks, within a budget of connections; beyond it the map with If-None-Match does as well.
import type { OutgoingHttpHeaders } from 'node:http'
import Type from 'typebox'
import type { Config } from '#config.ts'
import { type App, IdParam, problems } from '#core/http.ts'
import { parseNumbered } from '#core/ids.ts'
import type { Metrics } from '#core/metrics.ts'
import { Problem } from '#core/problem.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import { network } from '#limits/network.ts'
import type { Programme } from './programme.ts'
import { openSeatStreams } from './seat-stream.ts'

type Parts = {
  programme: Programme
  boards: SeatBoards
  config: Pick<Config, 'sseConnectionsMax' | 'sseConnectionsPerAddressMax'>
  metrics: Pick<Metrics, 'observe'>
}

const RETRY_AFTER_S = 5

export function seatStreamRoutes(app: App, parts: Parts): void {
  const { config, metrics, boards } = parts
  const streams = openSeatStreams(parts)
  const budget = createBudget(config.sseConnectionsMax, config.sseConnectionsPerAddressMax)
  // Before the server waits for its connections to end.
  app.addHook('preClose', async () => streams.close())
  metrics.observe('holdfast_seat_stream_viewers', 'Open seat streams', streams.viewers)
  metrics.observe('holdfast_seat_boards', 'Inventories whose seats are followed in memory', boards.loaded)
  metrics.observe(
    'holdfast_seat_board_lag_seconds',
    'How long ago the database was asked for the oldest board with viewers',
    () => boards.lagMs() / 1_000,
    'max',
  )

  app.get(
    '/v1/showtimes/:id/seats/stream',
    {
      // A budget of its own; an open stream is no request under way.
      config: { whenPressed: 'never' },
      schema: {
        operationId: 'streamSeats',
        summary: 'The seats of a show, live',
        description:
          'Server-sent events. First `snapshot {showtimeId, version, asOf, statuses}`, statuses in the order of the layout; then `delta {version, asOf, changes: [{code, status}]}` for each change, and when a hold runs out. The id is the version, with a count behind a dot (`17.2`) when holds have run out since. With Last-Event-ID you get what you missed, or a new snapshot. Apply what comes in the order it comes. Nothing in it is about you.',
        tags: ['Cinema'],
        params: IdParam,
        headers: Type.Object({ 'last-event-id': Type.Optional(Type.String({ maxLength: 100 })) }),
        response: {
          200: {
            description: 'Events',
            content: { 'text/event-stream': { schema: Type.Unsafe<string>({ type: 'string' }) } },
          },
          ...problems('NOT_FOUND', 'TOO_MANY_STREAMS', 'OVERLOADED', 'DATABASE_UNAVAILABLE'),
        },
      },
    },
    async (request, reply) => {
      const inventoryId = parseNumbered('show', request.params.id)
      const giveBack = budget.take(network(request.ip))
      reply.raw.once('close', giveBack)
      await streams.join(inventoryId, request.headers['last-event-id'], () => {
        reply.hijack()
        const { raw } = reply
        // The answer ends with its connection: no frames around each event, which is written as it is to every socket.
        raw.useChunkedEncodingByDefault = false
        raw.writeHead(200, {
          ...(reply.getHeaders() as OutgoingHttpHeaders),
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store, no-transform',
          'x-accel-buffering': 'no',
          connection: 'close',
        })
        raw.flushHeaders()
        return request.raw.socket
      })
    },
  )
}

/** Connections in all and of one address. Throws OVERLOADED or TOO_MANY_STREAMS; answers how to give one back, once. */
function createBudget(inAll: number, perAddress: number) {
  const open = new Map<string, number>()
  let total = 0
  return {
    take(address: string): () => void {
      if (total >= inAll) throw new Problem('OVERLOADED', { retryAfterSeconds: RETRY_AFTER_S })
      const here = open.get(address) ?? 0
      if (here >= perAddress)
        throw new Problem('TOO_MANY_STREAMS', { limit: perAddress, retryAfterSeconds: RETRY_AFTER_S })
      open.set(address, here + 1)
      total += 1
      let given = false
      return () => {
        if (given) return
        given = true
        total -= 1
        const left = (open.get(address) ?? 1) - 1
        if (left === 0) open.delete(address)
        else open.set(address, left)
      }
    },
  }
}
