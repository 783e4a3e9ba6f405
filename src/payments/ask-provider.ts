// Asks a provider with patience that ends: a call that hangs must not hold up the next one, and what became of it is then unknown.
import { setTimeout as pause } from 'node:timers/promises'

/** Throws what the call throws, or that there was no answer within `timeoutMs`; its effect may come about all the same. */
export async function askProvider<T>(timeoutMs: number, call: () => Promise<T>): Promise<T> {
  const patience = new AbortController()
  const tooLong = pause(timeoutMs, null, { signal: patience.signal, ref: false }).then(() => {
    throw new Error(`the payment provider did not answer within ${timeoutMs} ms`)
  })
  try {
    return await Promise.race([call(), tooLong])
  } finally {
    patience.abort()
    tooLong.catch(() => {})
  }
}
