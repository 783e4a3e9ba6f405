// Names and titles of the whole world in print: every letter the font has, a sign for those it has not, and nothing that leaves its line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPdf } from '#test/tickets/open-files.ts'
import { SHEET } from '#test/tickets/sheet.ts'
import { plainText } from './plain-text.ts'
import { drawTickets } from './ticket-pdf.ts'
import type { TicketSheet } from './ticket-sheet.ts'

async function printed(changes: Partial<TicketSheet>) {
  const pdf = await openPdf(await drawTickets({ ...SHEET, ...changes }))
  const [page] = pdf.pages
  assert.ok(page)
  return { pdf, page, flat: page.text.replaceAll('\n', ' ').replace(/ +/g, ' ') }
}

test('B070: Latin with every accent, Greek and Cyrillic are text that can be found again', async () => {
  for (const name of [
    'Дмитрий Щербаков',
    'Ελένη Ωνάση',
    'Nguyễn Thị Ánh',
    'O’Neill-Brontë',
    'Příliš žluťoučký kůň',
    'ĞİŞığş',
    'Łódź',
    'X',
    'محمد',
  ]) {
    const { flat, page } = await printed({ name, title: name, venue: name })
    assert.ok(flat.includes(name), `${name}: ${flat}`)
    assert.doesNotMatch(flat, /▯/)
    assert.ok(page.fonts.every(({ embedded }) => embedded))
    assert.equal(page.qr, SHEET.tickets[0]?.code)
  }
})

test('B070, B071: letters without a picture show that something is missing, say so, and never fail the document', async () => {
  for (const [name, shown] of [
    ['二吉', '▯▯'],
    ['नेहा', '▯▯▯▯'],
    ['Ann 👩 Lee', 'Ann ▯ Lee'],
    ['Кино 二', 'Кино ▯'],
    ['\ud800', '�'],
  ] as const) {
    const { flat, pdf } = await printed({ name: plainText(name) })
    assert.ok(flat.includes(`For ${shown}`), `${name}: ${flat}`)
    assert.equal(/letters that cannot be printed/.test(flat), shown !== '�')
    assert.equal(pdf.pages.length, 1)
  }
  assert.match((await printed({ title: 'Café ☕ Кино' })).flat, /^Café ☕ Кино/)
})

test('titles of any length stay on their page and leave the code alone', async () => {
  const long =
    'The Assassination of Jesse James by the Coward Robert Ford, and Everything That Came After It, in Three Parts '
  for (const title of ['É', long, long.repeat(20), 'Donaudampfschifffahrtsgesellschaft'.repeat(40), 'x'.repeat(255)]) {
    const { pdf, page, flat } = await printed({ title, venue: title, area: title, name: title })
    assert.equal(pdf.pages.length, 1, title)
    assert.equal(page.qr, SHEET.tickets[0]?.code)
    assert.ok(flat.includes(title.slice(0, 20)), flat)
    assert.match(flat, /Seat F7/)
    assert.match(flat, /Booking BCDFGH/)
  }
})

test('SD5: markup, control characters and marks that turn the writing round are no more than letters, or nothing', async () => {
  const evil = '<img src=x onerror=alert(1)> \u202egnp.exe\u202c\r\n\u0000\u0007\t) Tj ET (\\'
  const { flat } = await printed({ title: plainText(evil), name: plainText(evil) })
  assert.ok(flat.includes('<img src=x onerror=alert(1)> gnp.exe ) Tj ET (\\'), flat)
  assert.equal(plainText('a\u202eb\u2066c\u200fd\ufeffe\u2028f\u0085g'), 'abcde f g')
  // Persian is misspelt without the joiner.
  assert.equal(plainText('می\u200cخواهم'), 'می\u200cخواهم')
})

test('B060, B065: the offset and the letters of the zone are those of the day of the show, on the clock of the venue', async () => {
  for (const [startsAt, timeZone, day, zone] of [
    [
      '2026-11-11T19:00:00.000000Z',
      'America/Los_Angeles',
      'Wednesday, 11 November 2026, 11:00',
      'PST, UTC-08:00 America/Los_Angeles',
    ],
    [
      '2026-10-11T18:00:00.000000Z',
      'America/Los_Angeles',
      'Sunday, 11 October 2026, 11:00',
      'PDT, UTC-07:00 America/Los_Angeles',
    ],
    [
      '2026-08-27T06:00:00.000000Z',
      'Pacific/Auckland',
      'Thursday, 27 August 2026, 18:00',
      'NZST, UTC+12:00 Pacific/Auckland',
    ],
    [
      '2026-12-04T23:35:00.000000Z',
      'Europe/Vienna',
      'Saturday, 5 December 2026, 00:35',
      'CET, UTC+01:00 Europe/Vienna',
    ],
    ['2026-12-04T13:15:00.000000Z', 'Asia/Kathmandu', 'Friday, 4 December 2026, 19:00', 'UTC+05:45 Asia/Kathmandu'],
  ] as const) {
    const { flat } = await printed({ startsAt, timeZone })
    assert.ok(flat.includes(day) && flat.includes(`Local time: ${zone}`), flat)
  }
})

test('prices have the digits of their currency', async () => {
  for (const [currency, shown] of [
    ['JPY', '1500 JPY'],
    ['KWD', '1.500 KWD'],
    ['HUF', '15.00 HUF'],
  ] as const) {
    const tickets = SHEET.tickets.map((one) => ({ ...one, priceMinor: 1500 }))
    assert.ok((await printed({ currency, tickets })).flat.includes(`CLASSIC, ${shown}`))
  }
})
