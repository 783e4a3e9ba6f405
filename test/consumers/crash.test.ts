// B015: a real process is killed between an effect and the note of it, another one goes on: each booking has its tickets, mails and points once.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mailSale } from '#test/mail/mail-sale.ts'
import { assertSoundBooks } from '#test/sale/sound-books.ts'

const PROGRAM = fileURLToPath(new URL('relay-process.ts', import.meta.url))
// Longer than any lease, so that nobody waits for the dead.
const LEASES_OVER_MS = 180_000
const STEPS = [
  'before tickets BookingConfirmed',
  'after tickets BookingConfirmed',
  'after mail BookingConfirmed',
  'before loyalty PaymentCaptured',
  'after loyalty PaymentCaptured',
  'before sending',
  'after sending',
]

test(`killed at each of ${STEPS.length} steps, restarted each time: one ticket, one mail, one entry of points a booking`, async (t) => {
  const seats = STEPS.map((_, index) => `A${index}`)
  const sale = await mailSale(t, { seats })
  const env = { SMTP_URL: sale.smtp.url, MAIL_FROM: 'tickets@cinema.example' }
  const run = async (step: string) => {
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(sale.db.options), JSON.stringify(env), step], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    let said = ''
    for await (const chunk of child.stdout) {
      said += chunk
      if (said.includes(step) && step !== 'none') child.kill('SIGKILL')
    }
    await exited
    return said.trim()
  }
  for (const [index, step] of STEPS.entries()) {
    const order = await sale.order([seats[index] ?? ''])
    await sale.pay(order.checkout)
    await sale.deliver()
    await sale.settle()
    assert.equal(await run(step), step)
    await sale.db.shiftClock((index + 1) * LEASES_OVER_MS)
  }
  assert.equal(await run('none'), 'done')
  const [counts] = await sale.sql`
    select (select count(*)::int from tickets) as tickets, (select count(*)::int from mails where status = 'SENT') as mails,
      (select count(*)::int from mails) as all_mails, (select count(*)::int from loyalty_entries) as entries,
      (select sum(points)::int from loyalty_entries) as points`
  const each = STEPS.length
  assert.deepEqual({ ...counts }, { tickets: each, mails: each, allMails: each, entries: each, points: 12 * each })
  // What the server took and nobody noted (all that were under way in that process) is sent again, under the Message-ID it had.
  const ids = sale.smtp.taken.map(({ messageId }) => messageId)
  assert.equal(new Set(ids).size, each)
  assert.ok(ids.length > each, 'the process did not die between the yes and its note')
  await assertSoundBooks(sale.sql)
})
