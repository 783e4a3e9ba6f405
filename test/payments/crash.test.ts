// alone: kill -9 at every step of callback, capture, void and refund (X2): another process goes on, and the effect is there exactly once.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runAudit } from '#admin/run-audit.ts'
import { signWebhook } from '#core/standard-webhooks.ts'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { HOLD_MS, type TestSale, testSale } from '#test/sale/test-sale.ts'
import { settled, statuses } from '#test/sale/what-happened.ts'
import type { CrashOrder } from './crash-child.ts'

const CHILD = fileURLToPath(new URL('crash-child.ts', import.meta.url))
const LEASE_OVER_MS = 120_000

async function crash(sale: TestSale, order: Omit<CrashOrder, 'address'>): Promise<void> {
  const argument = JSON.stringify({ address: sale.db.options, ...order })
  const child = spawn(process.execPath, [CHILD, argument], { stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const [, signal] = await once(child, 'close')
  assert.equal(signal, 'SIGKILL', printed)
}

for (const point of ['before the transaction', 'before the commit', 'after the commit'] as const) {
  test(`callback, killed ${point}: sent again it is worked once`, async (t) => {
    const sale = await testSale(t)
    const checkout = await sale.checkOut(await sale.hold(['F7']))
    await sale.pay(checkout, { fault: 'never' })
    const body = JSON.stringify(await sale.message('authorised', checkout))
    const [clock] = await sale.sql<{ now: string }[]>`select holdfast_now() as now`
    const headers = { ...signWebhook(sale.webhookSecrets, 'evt_1', clock?.now ?? '', Buffer.from(body)) }
    await crash(sale, { message: { body, headers }, point })
    assert.equal((await statuses(sale)).booking, point === 'after the commit' ? 'CONFIRMED' : 'PENDING')
    assert.equal(await sale.send(Buffer.from(body), 'evt_1'), 200)
    await sale.work()
    assert.deepEqual(await statuses(sale), { booking: 'CONFIRMED', payments: ['CAPTURED'] })
    await assertOnce(sale, 'CAPTURE')
  })
}

const DEBTS: [kind: 'CAPTURE' | 'VOID' | 'REFUND', lay: (sale: TestSale) => Promise<void>][] = [
  ['CAPTURE', (sale) => owe(sale, {}, 0)],
  ['VOID', (sale) => owe(sale, { callbackAfterMs: HOLD_MS }, HOLD_MS + 1_000)],
  ['REFUND', (sale) => owe(sale, { fault: 'captured', callbackAfterMs: HOLD_MS }, HOLD_MS + 1_000)],
]

async function owe(sale: TestSale, pay: Parameters<TestSale['pay']>[1], atMs: number): Promise<void> {
  await sale.pay(await sale.checkOut(await sale.hold(['F7'])), pay)
  await sale.db.shiftClock(atMs)
  await sale.deliver()
}

for (const [kind, lay] of DEBTS)
  for (const point of ['before the call', 'after the call', 'before the commit', 'after the commit'] as const) {
    test(`${kind}, killed ${point}: another worker goes on with the same key`, async (t) => {
      const sale = await testSale(t)
      await lay(sale)
      await crash(sale, { message: null, point })
      await sale.db.shiftClock(HOLD_MS + LEASE_OVER_MS)
      await sale.work()
      assert.deepEqual(await settled(sale), [`${kind} ${kind === 'CAPTURE' ? 'CONFIRMED' : 'LATE'} DONE`])
      await assertOnce(sale, kind)
    })
  }

async function assertOnce(sale: TestSale, kind: string): Promise<void> {
  const moved = await sale.sql`select 1 from sandbox_movements where kind = ${kind}`
  assert.equal(moved.count, 1)
  await assertSoundBooks(sale.sql)
  assert.deepEqual((await runAudit(sale.sql)).findings, [])
}
