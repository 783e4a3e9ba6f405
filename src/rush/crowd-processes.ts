// The crowd in processes of its own, so that tens of thousands of buyers do not take the director's breath, nor more than one core each.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { StartRefused } from '#database/start-refused.ts'
import type { CrowdOrder } from './crowd.ts'
import type { FromCrowd, ToCrowd } from './crowd-process.ts'
import { addHistory, type History, newHistory } from './history.ts'
import type { Tally } from './tally.ts'

export type CrowdProcesses = { stop(): void; ended: Promise<History> }

const PROGRAM = fileURLToPath(new URL('./crowd-process.ts', import.meta.url))

/** `counted` gets every process' tally as it comes. A process that ends early ends the rush (StartRefused). */
export function startCrowdProcesses(orders: CrowdOrder[], counted: (tally: Tally) => void): CrowdProcesses {
  const children = orders.map(() => fork(PROGRAM, { serialization: 'advanced' }))
  const shares = children.map((child, index) => follow(child, orders[index] as CrowdOrder, counted))
  return {
    stop: () => {
      for (const child of children) if (child.connected) say(child, { stop: true })
    },
    ended: Promise.all(shares)
      .then((histories) => {
        const all = newHistory()
        for (const history of histories) addHistory(all, history)
        return all
      })
      .finally(() => {
        for (const child of children) child.kill('SIGKILL')
      }),
  }
}

function follow(child: ChildProcess, order: CrowdOrder, counted: (tally: Tally) => void): Promise<History> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: FromCrowd) => {
      if ('counted' in message) counted(message.counted)
      else resolve(message.history)
    })
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      reject(new StartRefused(`A process of the crowd ended early (${signal ?? `code ${code}`}).`)),
    )
    say(child, { play: order })
  })
}

function say(child: ChildProcess, message: ToCrowd): void {
  child.send(message)
}
