// viewers: thousands of open streams of one show that changes twenty times a second. Every viewer gets every change in order; how late, and at what memory.
import { connect, type Socket } from 'node:net'
import type { Bench } from './bench.ts'
import { keepChanging } from './seat-map.ts'
import { startServer } from './start-server.ts'

const VIEWERS = 5_000
const DELAY_MAX_MS = 250
const MEMORY_MAX_KB = 20
const OPENED_AT_ONCE = 100

type Viewer = { socket: Socket; version: number; rest: string }

export const bench: Bench = {
  name: 'viewers',
  ours: `${VIEWERS} viewers, 20 changes a second: the delay 99 of 100 changes stay within`,
  reference: `${DELAY_MAX_MS} ms`,
  mustReach: 1,
  async run({ address, pool, quick, say }) {
    const count = quick ? 1_000 : VIEWERS
    const seconds = quick ? 5 : 20
    const server = await startServer(address, 1, 1)
    const viewers: Viewer[] = []
    try {
      const { oursPort, shows } = server.stage
      const show = shows[0] ?? ''
      const changedMs: number[] = []
      const delaysMs: number[] = []
      const told = (version: number) => {
        const sinceMs = changedMs[version]
        if (sinceMs !== undefined) delaysMs.push(performance.now() - sinceMs)
      }
      const open = () => openViewer(oursPort, show, told)
      // The first thousand open what every process needs; what the rest adds is theirs.
      viewers.push(...(await openAll(Math.min(200, count), open)))
      const beforeBytes = await residentBytes(oursPort)
      viewers.push(...(await openAll(count - viewers.length, open)))
      const kbEach = ((await residentBytes(oursPort)) - beforeBytes) / 1_024 / (count - 200)
      say(`${count} viewers, ${kbEach.toFixed(1)} kB each`)

      // Counted from the moment the change was committed, as far as this process knows.
      const stop = keepChanging(pool(1), Number(show.slice('show_'.length)), (version) => {
        changedMs[version] = performance.now()
      })
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
      await stop()
      const last = changedMs.length - 1
      for (const deadlineMs = performance.now() + 5_000; viewers.some(({ version }) => version < last); ) {
        if (performance.now() > deadlineMs) throw new Error('a viewer did not get every change')
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      delaysMs.sort((a, b) => a - b)
      const p99 = delaysMs[Math.floor(delaysMs.length * 0.99)] ?? Number.NaN
      const p50 = delaysMs[Math.floor(delaysMs.length * 0.5)] ?? Number.NaN
      return {
        name: 'viewers',
        ours: Math.round(p99),
        reference: DELAY_MAX_MS,
        ratio: (DELAY_MAX_MS / p99) * Math.min(1, MEMORY_MAX_KB / kbEach),
        unit: 'ms',
        rounds: 1,
        notes: {
          viewers: count,
          changes: last - 1,
          events: delaysMs.length,
          'p50 ms': Math.round(p50),
          'kB a viewer': kbEach.toFixed(1),
        },
      }
    } finally {
      for (const { socket } of viewers) socket.destroy()
      server.stop()
    }
  },
}

async function openAll(count: number, open: () => Promise<Viewer>): Promise<Viewer[]> {
  const viewers: Viewer[] = []
  while (viewers.length < count)
    viewers.push(...(await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, count - viewers.length) }, open))))
  return viewers
}

/** Resolves with the snapshot; a change that is not the next one ends the benchmark. */
function openViewer(port: number, show: string, told: (version: number) => void): Promise<Viewer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const viewer: Viewer = { socket, version: 0, rest: '' }
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.write(`GET /v1/showtimes/${show}/seats/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
    socket.on('data', (chunk: unknown) => {
      const text = viewer.rest + String(chunk)
      const end = text.lastIndexOf('\n\n')
      viewer.rest = text.slice(end + 2)
      for (const [, id = '', event] of text.slice(0, end).matchAll(/^id: (\d+)\nevent: (\w+)/gm)) {
        const version = Number(id)
        if (event === 'delta' && version !== viewer.version + 1)
          throw new Error(`a viewer got version ${version} after ${viewer.version}`)
        viewer.version = version
        if (event === 'delta') told(version)
        else resolve(viewer)
      }
    })
  })
}

async function residentBytes(port: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const numbers = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(numbers)?.[1])
}
