// Says no early instead of dying slowly: counts the requests under way and watches the event loop; what can wait is refused first, what others rely on never.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { App } from './http.ts'
import type { Metrics } from './metrics.ts'
import { Problem } from './problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * first: new demand (a session, a hold), refused at half of the limits. last: whoever has something already, or only reads; refused at the limits.
     * never: money that arrives, health, and connections with a budget of their own; not counted either. Without a word: last.
     */
    whenPressed?: 'first' | 'last' | 'never'
  }
}

export type PressureLimits = {
  /** Requests under way in this process at most. */
  requestsInFlightMax: number
  /** Half the turns of the event loop last at most this long. */
  overloadLagMs: number
}

const LOOK_MS = 500
const RESOLUTION_MS = 20
const RETRY_AFTER_S = 2
// What is refused first is refused at this part of a limit.
const FIRST = 0.5

export function refuseUnderPressure(app: App, limits: PressureLimits, metrics: Pick<Metrics, 'observe'>): void {
  let inFlight = 0
  // One long turn is a hiccup; pressure is what two looks running have seen.
  let lagMs = 0
  let lagBeforeMs = 0
  const turns = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  turns.enable()
  const looking = setInterval(() => {
    const lagNowMs = typicalLagMs(turns)
    turns.reset()
    lagMs = Math.min(lagNowMs, lagBeforeMs)
    lagBeforeMs = lagNowMs
  }, LOOK_MS).unref()
  metrics.observe('holdfast_requests_in_flight', 'Requests under way', () => inFlight)
  metrics.observe(
    'holdfast_event_loop_lag_seconds',
    'What half the turns of the event loop last',
    () => lagMs / 1000,
    'max',
  )

  app.addHook('onRequest', (request, reply, done) => {
    const { whenPressed = 'last' } = request.routeOptions.config
    if (whenPressed === 'never') return done()
    const part = whenPressed === 'first' ? FIRST : 1
    if (inFlight >= limits.requestsInFlightMax * part) return done(pressed('requests'))
    if (lagMs > limits.overloadLagMs * part) return done(pressed('event loop'))
    inFlight += 1
    reply.raw.once('close', () => {
      inFlight -= 1
    })
    done()
  })
  app.addHook('onClose', async () => {
    clearInterval(looking)
    turns.disable()
  })
}

function typicalLagMs(turns: ReturnType<typeof monitorEventLoopDelay>): number {
  return Math.max(0, turns.percentile(50) / 1e6 - RESOLUTION_MS)
}

function pressed(by: string): Problem {
  return new Problem('OVERLOADED', { pressedBy: by, retryAfterSeconds: RETRY_AFTER_S })
}
