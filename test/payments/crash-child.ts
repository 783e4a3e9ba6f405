// A process that does one step of a payment and is killed at the named point of it, as by a power cut: no handler runs, nothing is closed.
import { loadConfig } from '#config.ts'
import { connect, type Sql, type Tx } from '#database/connect.ts'
import { openProviders } from '#payments/providers/open-providers.ts'
import type { Provider, Providers } from '#payments/providers/provider.ts'
import { receiveCallback } from '#payments/receive-callback.ts'
import { settleDueDebts } from '#payments/settle-debts.ts'

export type CrashOrder = {
  address: Parameters<typeof connect>[0]
  /** A message to receive; null: debts are settled. */
  message: { body: string; headers: Record<string, string> } | null
  point: 'before the transaction' | 'before the commit' | 'after the commit' | 'before the call' | 'after the call'
}

const order = JSON.parse(process.argv[2] ?? '{}') as CrashOrder
const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}
const pool = connect(order.address, { max: 3, name: 'crash' })
const config = loadConfig({})
const [provider] = await openProviders({ sql: pool, config, wake: () => {} })
const parts = { sql: dying(pool), config, wake: () => {} }

if (order.message) {
  const { body, headers } = order.message
  await receiveCallback(parts, provider, { rawBody: Buffer.from(body), headers })
} else {
  await settleDueDebts({ ...parts, providers: [callsThenDies(provider)] as Providers })
}
throw new Error(`the point was not reached: ${order.point}`)

// The pool of the sandbox is its own: only our transactions die.
function dying(sql: Sql): Sql {
  const begin = async (work: (tx: Tx) => unknown) => {
    if (order.point === 'before the transaction') die()
    const result = await sql.begin(async (tx) => {
      const done = await work(tx)
      if (order.point === 'before the commit') die()
      return done
    })
    if (order.point === 'after the commit') die()
    return result
  }
  return new Proxy(sql, { get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)) })
}

function callsThenDies(real: Provider): Provider {
  const around =
    <Order, Answer>(call: (order: Order) => Promise<Answer>) =>
    async (asked: Order): Promise<Answer> => {
      if (order.point === 'before the call') die()
      const answer = await call(asked)
      return order.point === 'after the call' ? die() : answer
    }
  return { ...real, capture: around(real.capture), void: around(real.void), refund: around(real.refund) }
}
