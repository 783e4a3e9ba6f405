// Waits for the signal to stop, then stops within a bound.
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
// npm forwards Ctrl-C to a process that has had it from the terminal: the second one is an echo. One that comes later is impatience.
const ECHO_MS = 2_000
const STOP_MAX_MS = 10_000

/** Answers when `close` has. The same signal again after a while, or a close that takes too long, ends the process at once. */
export async function untilStopped(
  close: () => Promise<void>,
  say: (word: string) => void = console.log,
): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of SIGNALS) process.on(name, resolve)
  })
  const began = performance.now()
  const endNow = (name: NodeJS.Signals) => process.exit(128 + (constants.signals[name] ?? 0))
  for (const name of SIGNALS) process.on(name, () => performance.now() - began > ECHO_MS && endNow(name))
  const tooLong = setTimeout(() => endNow(signal), STOP_MAX_MS)
  say('Stopping ...')
  await close()
  clearTimeout(tooLong)
  // The listeners keep nothing alive; whatever still does must not hold up the stop.
  process.exit(0)
}
