// A process of the crowd: gets its order from the director (crowd-processes.ts), tells what it counts a few times a second, and the history in the end.
import { type Crowd, type CrowdOrder, startCrowd } from './crowd.ts'
import type { History } from './history.ts'
import type { Tally } from './tally.ts'

export type ToCrowd = { play: CrowdOrder } | { stop: true }
export type FromCrowd = { counted: Tally } | { history: History }

const TELL_MS = 200

let crowd: Crowd | null = null
process.on('message', (message: ToCrowd) => {
  if ('play' in message) void play(message.play)
  else crowd?.stop()
})
// Ctrl-C reaches every process of the terminal; it is the director's to say what it means. Without a director there is nobody to play for.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit())

async function play(order: CrowdOrder): Promise<void> {
  const playing = startCrowd(order)
  crowd = playing
  const timer = setInterval(() => tell({ counted: playing.takeTally() }), TELL_MS)
  const history = await playing.ended
  clearInterval(timer)
  tell({ counted: playing.takeTally() })
  tell({ history })
}

function tell(message: FromCrowd): void {
  process.send?.(message)
}
