// Before the crowd comes somebody looks: is there a Holdfast, which show, what does its house look like, is there a waiting room?
import { StartRefused } from '#database/start-refused.ts'
import type { Queue, SeatMap, ShowtimeItem } from './contract.ts'
import type { Wire } from './wire.ts'

export type Show = { id: string; title: string; map: SeatMap; roomOn: boolean }

/** `wanted` null: the show with the most free seats of the next hundred. StartRefused when there is nothing to rush. */
export async function scoutShow(wire: Wire, url: string, wanted: string | null): Promise<Show> {
  const session = await wire.ask('session', '/v1/sessions', { method: 'POST' })
  if (session.status === 0)
    throw new StartRefused(`Nothing answers at ${url}. Start a Holdfast there, or use --own-system.`)
  if (session.status !== 201)
    throw new StartRefused(`What answers at ${url} is no Holdfast: POST /v1/sessions is ${session.status}.`)
  const id = wanted ?? (await findFreest(wire))
  const map = await wire.ask('map', `/v1/showtimes/${id}/seats`)
  if (map.status !== 200) throw new StartRefused(`There is no show ${id} at ${url}.`)
  const headers = { authorization: `Bearer ${session.read<{ token: string }>().token}` }
  return { id, title: await titleOf(wire, id), map: map.read<SeatMap>(), roomOn: await hasRoom(wire, id, headers) }
}

async function findFreest(wire: Wire): Promise<string> {
  const shows = await listShows(wire)
  const best = shows.toSorted((a, b) => b.availability.free - a.availability.free)[0]
  if (!best || best.availability.free === 0) throw new StartRefused('This system has no show with free seats to rush.')
  return best.id
}

async function titleOf(wire: Wire, id: string): Promise<string> {
  const show = (await listShows(wire)).find((one) => one.id === id)
  return show ? `${show.movie.title}, ${show.cinema.name}, ${show.screen.name}` : id
}

async function listShows(wire: Wire): Promise<ShowtimeItem[]> {
  const reply = await wire.ask('map', '/v1/showtimes?limit=100')
  return reply.status === 200 ? reply.read<{ items: ShowtimeItem[] }>().items : []
}

// One place in the queue, given back at once. Who is let in without a wait needs no room; a system without rooms has no such door.
async function hasRoom(wire: Wire, id: string, headers: Record<string, string>): Promise<boolean> {
  const reply = await wire.ask('room', `/v1/showtimes/${id}/queue`, { method: 'POST', headers })
  if (reply.status !== 200 && reply.status !== 201) return false
  const { ticket, status } = reply.read<Queue>()
  await wire.ask('room', `/v1/queue/${ticket}`, { method: 'DELETE', headers })
  return status !== 'ADMITTED'
}
