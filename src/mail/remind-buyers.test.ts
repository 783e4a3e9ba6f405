// Reminders: a day before the show as it stands, once, for those who still go and have not just bought.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailSale } from '#test/mail/mail-sale.ts'
import { cancel } from '#test/sale/what-happened.ts'
import { attached } from '#test/support/smtp.ts'
import { writeReminders } from './remind-buyers.ts'

const HOUR_MS = 3_600_000
const BEFORE_MS = 24 * HOUR_MS
const THREE_DAYS_MIN = 3 * 24 * 60

test('a day before the show, not earlier, each booking is reminded once, by however many processes', async (t) => {
  const sale = await mailSale(t, { startsInMinutes: THREE_DAYS_MIN })
  await sale.book(['F7'])
  const second = await sale.book(['F8'])
  await sale.sendMails()
  await sale.db.shiftClock(47 * HOUR_MS)
  assert.equal(await writeReminders(sale.sql, BEFORE_MS), 0)
  await sale.db.shiftClock(49 * HOUR_MS)
  const others = [sale.sql, sale.db.connect(2), sale.db.connect(2)]
  const written = await Promise.all(others.map((sql) => writeReminders(sql, BEFORE_MS)))
  assert.equal(
    written.reduce((sum, count) => sum + count),
    2,
  )
  // Cancelled between writing and sending: nobody is reminded of what they gave back.
  await cancel(sale, second.bookingId)
  await sale.work()
  await sale.sendMails()
  const mails = (await sale.mails()).filter((mail) => mail.startsWith('REMINDER')).toSorted()
  assert.deepEqual(mails, ['REMINDER SENT', 'REMINDER SKIPPED'])
  const [reminder] = sale.smtp.taken.filter(({ subject }) => subject?.startsWith('Soon: Metropolis'))
  assert.equal(attached(reminder, 'pdf').contentType, 'application/pdf')
  for (const hours of [50, 60, 71]) {
    await sale.db.shiftClock(hours * HOUR_MS)
    assert.equal(await writeReminders(sale.sql, BEFORE_MS), 0)
  }
})

test('a booking that was cancelled, is not paid, has no address or was made within that day is not reminded', async (t) => {
  const sale = await mailSale(t, { startsInMinutes: THREE_DAYS_MIN })
  const { bookingId } = await sale.book(['F5'])
  await cancel(sale, bookingId)
  await sale.book(['F6'], {})
  await sale.db.shiftClock(50 * HOUR_MS)
  await sale.book(['F7'])
  await sale.order(['F8'])
  assert.equal(await writeReminders(sale.sql, BEFORE_MS), 0)
})

test('a show that is moved moves its reminder; one that had its reminder gives no second one', async (t) => {
  const sale = await mailSale(t, { startsInMinutes: THREE_DAYS_MIN })
  await sale.book(['F7'])
  await sale.sendMails()
  const move = (hours: number) =>
    sale.sql`update inventory_descriptions set starts_at = starts_at + ${hours} * interval '1 hour'`
  await sale.db.shiftClock(49 * HOUR_MS)
  await move(48)
  assert.equal(await writeReminders(sale.sql, BEFORE_MS), 0)
  await sale.db.shiftClock(97 * HOUR_MS)
  assert.equal(await writeReminders(sale.sql, BEFORE_MS), 1)
  // Moved once more, before the mail goes out: it waits for the new day.
  await move(48)
  assert.equal(await sale.sendMails(), 0)
  await sale.db.shiftClock(143 * HOUR_MS)
  assert.equal(await sale.sendMails(), 0)
  await sale.db.shiftClock(145 * HOUR_MS)
  assert.equal(await writeReminders(sale.sql, BEFORE_MS), 0)
  assert.equal(await sale.sendMails(), 1)
  await move(48)
  await sale.db.shiftClock(193 * HOUR_MS)
  assert.equal(await writeReminders(sale.sql, BEFORE_MS), 0)
})

test('a mail that could only be sent after the beginning is not sent', async (t) => {
  const sale = await mailSale(t, { startsInMinutes: THREE_DAYS_MIN })
  await sale.book(['F7'])
  await sale.sendMails()
  await sale.db.shiftClock(49 * HOUR_MS)
  await writeReminders(sale.sql, BEFORE_MS)
  await sale.db.shiftClock(73 * HOUR_MS)
  assert.equal(await sale.sendMails(), 0)
  assert.deepEqual(
    (await sale.mails()).filter((mail) => mail.startsWith('REMINDER')),
    ['REMINDER SKIPPED'],
  )
})
