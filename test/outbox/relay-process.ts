// A relay as a process of its own, for tests that kill it: told by its environment which database, which file it writes what it took to, and where to stop.
import { appendFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '#database/connect.ts'
import { relayTo } from '#outbox/relay.ts'
import type { Sink } from '#outbox/sink.ts'

export type Step = 'claimed' | 'half sent' | 'sent' | 'marking' | 'slow' | 'never'
const { step, file, database } = JSON.parse(process.env.RELAY ?? '{}') as {
  step: Step
  file: string
  database: Parameters<typeof connect>[0]
}

// The place is said on standard output, and nothing more is done: the test kills us there.
const stopAt = (place: Step) => {
  if (step !== place) return
  writeSync(1, `at ${place}\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const sink: Sink = {
  name: 'in-process',
  async send(events) {
    stopAt('claimed')
    if (step === 'slow') writeSync(1, 'at slow\n')
    for (const [at, { id, bookingId, seq }] of events.entries()) {
      if (at === events.length >> 1) stopAt('half sent')
      if (step === 'slow') await sleep(5)
      appendFileSync(file, `${JSON.stringify({ id, bookingId, seq })}\n`)
    }
    stopAt('sent')
    // What comes next is the statement that marks; the test's database makes it wait, so that it is killed in the middle.
    if (step === 'marking') setTimeout(() => writeSync(1, 'at marking\n'), 300)
    return []
  },
}

const sql = connect(database, { max: 2, name: 'killed-relay' })
for (;;) {
  await relayTo(sql, sink)
  await sleep(20)
}
