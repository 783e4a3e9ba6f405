// seat-map: GET the map of a 300-seat show that changes twenty times a second, whole and with If-None-Match, against bare routes that send the same.
import type { Sql } from '#database/connect.ts'
import { postgresStore } from '#inventory/postgres-store.ts'
import { type Bench, median } from './bench.ts'
import { fire, type Shot } from './http-load.ts'
import { startServer } from './start-server.ts'

const CONNECTIONS = 50
const CHANGE_EVERY_MS = 50
const UNCHANGED_MUST_REACH = 0.9

export const bench: Bench = {
  name: 'seat-map',
  ours: 'the map of a show that changes 20 times a second',
  reference: 'a bare route sending the same bytes',
  mustReach: 0.85,
  async run({ address, pool, quick, say }) {
    const rounds = quick ? 3 : 7
    const count = quick ? 3_000 : 10_000
    const server = await startServer(address, 1, 1)
    try {
      const { oursPort, shows, tokens } = server.stage
      const show = shows[0] ?? ''
      const still = shows[1] ?? ''
      const stopChanging = keepChanging(pool(1), Number(show.slice('show_'.length)))
      const url = `http://127.0.0.1:${oursPort}/v1/showtimes/${still}/seats`
      const etag = (await fetch(url, { headers: { 'accept-encoding': 'identity' } })).headers.get('etag') ?? ''
      const volley = async (path: string, status: number, tag = '') => {
        const shot: Shot = { path, token: tokens[0] ?? '', body: null, headers: tag ? { 'If-None-Match': tag } : {} }
        const { byStatus, elapsedMs } = await fire(oursPort, CONNECTIONS, new Array<Shot>(count).fill(shot))
        if (byStatus.get(status) !== count) throw new Error(`answers to ${path}: ${JSON.stringify([...byStatus])}`)
        return (count / elapsedMs) * 1_000
      }
      // A 304 is measured on a show that stands still: on the other one the tag is soon another.
      const kinds = {
        ours: () => volley(`/v1/showtimes/${show}/seats`, 200),
        bare: () => volley(`/bench/${show}/map`, 200),
        unchanged: () => volley(`/v1/showtimes/${still}/seats`, 304, etag),
        bareUnchanged: () => volley(`/bench/${show}/unchanged`, 304, etag),
      }
      const perSecond = {
        ours: [] as number[],
        bare: [] as number[],
        unchanged: [] as number[],
        bareUnchanged: [] as number[],
      }
      for (const run of Object.values(kinds)) await run()
      for (let round = 1; round <= rounds; round++) {
        for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) perSecond[kind].push(await kinds[kind]())
        say(
          `round ${round}: ${Object.entries(perSecond)
            .map(([kind, values]) => `${kind} ${Math.round(values.at(-1) ?? 0)}/s`)
            .join(', ')}`,
        )
      }
      await stopChanging()
      const ratio = (ours: number[], bare: number[]) => median(ours.map((value, at) => value / (bare[at] ?? 1)))
      const unchanged = ratio(perSecond.unchanged, perSecond.bareUnchanged)
      return {
        name: 'seat-map',
        ours: Math.round(median(perSecond.ours)),
        reference: Math.round(median(perSecond.bare)),
        // Both have to be reached: what the second lacks counts against the first.
        ratio: ratio(perSecond.ours, perSecond.bare) * Math.min(1, unchanged / UNCHANGED_MUST_REACH),
        unit: 'maps/s',
        rounds,
        notes: {
          connections: CONNECTIONS,
          unchanged: Math.round(median(perSecond.unchanged)),
          'unchanged ratio': unchanged.toFixed(2),
        },
      }
    } finally {
      server.stop()
    }
  },
}

/** Blocks a seat and gives it back, by another process than the server. */
export function keepChanging(
  sql: Sql,
  inventoryId: number,
  onChange: (version: number) => void = () => {},
): () => Promise<void> {
  const store = postgresStore(sql)
  let going = true
  let version = 1
  const loop = (async () => {
    for (let nextMs = performance.now(); going; nextMs += CHANGE_EVERY_MS) {
      if (version % 2 === 1) await store.block(inventoryId, ['B1'], 'bench', 'change')
      else await store.unblock(inventoryId, ['B1'])
      version += 1
      onChange(version)
      const restMs = nextMs + CHANGE_EVERY_MS - performance.now()
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, restMs)))
    }
  })()
  return async () => {
    going = false
    await loop
  }
}
