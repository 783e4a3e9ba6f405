// The seats of a show as server-sent events: one audience a show, one encoding of a change for everybody in it, and nobody waits for the slowest.
import type { Socket } from 'node:net'
import { formatNumbered } from '#core/ids.ts'
import type { BoardStep } from '#inventory/seat-board.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import type { Layout } from './layout.ts'
import type { Programme } from './programme.ts'
import { inLayoutOrder } from './seat-map.ts'

export type SeatStreams = {
  /**
   * `begin` writes the head of the answer and gives its socket; then come the changes this viewer missed since `lastEventId`, or a snapshot, and every
   * change from there on. NOT_FOUND without such a showtime.
   */
  join(inventoryId: number, lastEventId: string | undefined, begin: () => Socket): Promise<void>
  viewers(): number
  /** Ends every stream; browsers come back by themselves. */
  close(): void
}

type Audience = { viewers: Set<Socket>; snapshot(): Buffer; missedSince(id: string): Buffer | null; stop(): void }
type PictureName = { version: number; lapsed: number }

// A proxy or a phone network that hears nothing hangs up; none of them sooner than this.
const HEARTBEAT_MS = 15_000
const HEARTBEAT = Buffer.from(': here\n\n')
// Who leaves this much unread is dropped, and comes back to a snapshot: memory stays bounded, and a snapshot is less to read.
const UNREAD_MAX_BYTES = 65_536
// Spread, so that a crowd whose server restarted does not come back in one moment.
const RETRY_MIN_MS = 500
const RETRY_SPREAD_MS = 1_500

export function openSeatStreams(parts: { programme: Programme; boards: SeatBoards }): SeatStreams {
  const audiences = new Map<number, Promise<Audience>>()
  const everybody = new Set<Socket>()
  const heartbeat = setInterval(() => {
    for (const socket of everybody) send(socket, HEARTBEAT)
  }, HEARTBEAT_MS).unref()

  function audienceOf(inventoryId: number): Promise<Audience> {
    const opened = audiences.get(inventoryId) ?? openAudience(parts, inventoryId)
    audiences.set(inventoryId, opened)
    return opened
  }

  function leave(inventoryId: number, audience: Audience, socket: Socket | null): void {
    if (socket) audience.viewers.delete(socket)
    if (socket) everybody.delete(socket)
    if (audience.viewers.size > 0) return
    audiences.delete(inventoryId)
    audience.stop()
  }

  return {
    async join(inventoryId, lastEventId, begin) {
      const opened = audienceOf(inventoryId)
      const audience = await opened.catch((error: unknown) => {
        if (audiences.get(inventoryId) === opened) audiences.delete(inventoryId)
        throw error
      })
      // The last viewer left in the same moment.
      if (audiences.get(inventoryId) !== opened) return this.join(inventoryId, lastEventId, begin)
      // From here in one turn: no change falls between the picture and its followers.
      const socket = begin()
      if (socket.destroyed) return leave(inventoryId, audience, null)
      audience.viewers.add(socket)
      everybody.add(socket)
      socket.once('close', () => leave(inventoryId, audience, socket))
      socket.write(`retry: ${Math.round(RETRY_MIN_MS + Math.random() * RETRY_SPREAD_MS)}\n\n`)
      socket.write((lastEventId ? audience.missedSince(lastEventId) : null) ?? audience.snapshot())
    },
    viewers: () => everybody.size,
    close() {
      clearInterval(heartbeat)
      for (const socket of everybody) socket.end()
    },
  }
}

async function openAudience(
  { programme, boards }: { programme: Programme; boards: SeatBoards },
  inventoryId: number,
): Promise<Audience> {
  const showtime = await programme.showtime(inventoryId)
  const layout = await programme.layout(showtime.screenId, showtime.layoutVersion)
  const viewers = new Set<Socket>()
  let kept: { id: string; text: Buffer } | null = null

  const watching = await boards.watch(inventoryId, (steps) => {
    if (viewers.size === 0) return
    const text = steps === null ? snapshot() : encodeSteps(steps)
    for (const socket of viewers) send(socket, text)
  })

  // Written once for all who come between two changes.
  function snapshot(): Buffer {
    const id = idOf(watching.board())
    if (kept?.id !== id) kept = { id, text: encodeSnapshot(inventoryId, layout, watching.board()) }
    return kept.text
  }

  return {
    viewers,
    snapshot,
    missedSince(id) {
      const named = parseId(id)
      const missed = named && watching.board().stepsSince(named)
      return missed && encodeSteps(missed)
    },
    stop: watching.stop,
  }
}

// A destroyed socket leaves by its close event.
function send(socket: Socket, text: Buffer): void {
  if (socket.writableLength > UNREAD_MAX_BYTES) socket.destroy()
  else socket.write(text)
}

function encodeSnapshot(
  inventoryId: number,
  layout: Layout,
  board: PictureName & { asOf: string; letters(): string },
): Buffer {
  const data = {
    showtimeId: formatNumbered('show', inventoryId),
    version: board.version,
    asOf: board.asOf,
    statuses: inLayoutOrder(layout, board.letters()).join(''),
  }
  return Buffer.from(`id: ${idOf(board)}\nevent: snapshot\ndata: ${JSON.stringify(data)}\n\n`)
}

function encodeSteps(steps: BoardStep[]): Buffer {
  const events = steps.map((step) => {
    const data = JSON.stringify({ version: step.version, asOf: step.asOf, changes: step.changes })
    return `id: ${idOf(step)}\nevent: delta\ndata: ${data}\n\n`
  })
  return Buffer.from(events.join(''))
}

/** `17`, and `17.2` when two holds have run out since the change that made it version 17: the version alone does not change then. */
function idOf({ version, lapsed }: PictureName): string {
  return lapsed === 0 ? String(version) : `${version}.${lapsed}`
}

function parseId(id: string): PictureName | null {
  const [, version, lapsed = '0'] = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(id) ?? []
  return version === undefined ? null : { version: Number(version), lapsed: Number(lapsed) }
}
