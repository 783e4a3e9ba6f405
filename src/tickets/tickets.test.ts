// Tickets: issued once, for whoever owns them, with a code that a door verifies alone and nobody can make or respell.
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import encodeQR from 'qr'
import { parseSharded } from '#core/ids.ts'
import { assertSoundBooks } from '#test/sale/sound-books.ts'
import { testSale } from '#test/sale/test-sale.ts'
import { issueTickets } from './issue-tickets.ts'
import { qrPng } from './qr-image.ts'
import { readTicketCode, writeTicketCode } from './ticket-code.ts'
import { loadTicketKey } from './ticket-key.ts'

const CLAIM = { inventoryId: 42, ticketId: '0198f0a1-2b3c-4d5e-8f90-112233445566' }

function newKey(keyId = 'abcd') {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { keyId: Buffer.from(keyId), privateKey, publicKey }
}

test('however often the event comes, eight at once: each seat has one ticket', async (t) => {
  const sale = await testSale(t)
  await sale.pay(await sale.checkOut(await sale.hold(['F5', 'F6', 'F7'])))
  await sale.deliver()
  const [booking] = await sale.sql<{ id: string }[]>`select id from bookings`
  const event = { inventoryId: sale.inventoryId, bookingId: booking?.id ?? '' }
  await Promise.all(Array.from({ length: 8 }, () => issueTickets(sale.sql, sale.ticketKey, event)))
  await sale.work()
  const tickets = await sale.sql<{ seatCode: string }[]>`select seat_code from tickets order by line_no`
  assert.deepEqual(
    [...tickets].map(({ seatCode }) => seatCode),
    ['F5', 'F6', 'F7'],
  )
  await assertSoundBooks(sale.sql)
})

test('trap 42: cancelled before the relay came by: no ticket for what is gone, and none afterwards', async (t) => {
  const sale = await testSale(t)
  const hold = await sale.hold(['F7', 'F8'])
  const checkout = await sale.checkOut(hold)
  await sale.pay(checkout)
  await sale.deliver()
  const url = `/v1/bookings/${checkout.bookingId}`
  const headers = { 'hold-token': hold.token }
  assert.equal((await sale.app.inject({ method: 'DELETE', url, headers, payload: { lines: ['F8'] } })).statusCode, 200)
  await sale.work()
  const seats = await sale.sql<{ seatCode: string }[]>`select seat_code from tickets`
  assert.deepEqual(
    [...seats].map(({ seatCode }) => seatCode),
    ['F7'],
  )
  await assertSoundBooks(sale.sql)
})

test('a code says its showtime and ticket, verifies with the public key alone, and has no personal data', () => {
  const key = newKey()
  const code = writeTicketCode(key, CLAIM)
  assert.match(code, /^HF1\.[A-Za-z0-9_-]{35}\.[A-Za-z0-9_-]{86}$/)
  assert.deepEqual(readTicketCode(code, [newKey('efgh'), key]), CLAIM)
})

test('SE1: a changed letter, another key, no signature, a second spelling, other versions: no ticket', () => {
  const key = newKey()
  const code = writeTicketCode(key, CLAIM)
  const [prefix = '', payload = '', signature = ''] = code.split('.')
  for (let at = 0; at < code.length; at++) {
    const letter = code[at] === 'A' ? 'B' : 'A'
    assert.equal(readTicketCode(code.slice(0, at) + letter + code.slice(at + 1), [key]), null, `letter ${at}`)
  }
  const wrong = [
    '',
    '.',
    '..',
    `${prefix}.${payload}`,
    `${prefix}.${payload}.`,
    `${code}.`,
    `${code}=`,
    `${code} `,
    code.toLowerCase(),
    `${prefix}.${payload}=.${signature}`,
    `HF2.${payload}.${signature}`,
    writeTicketCode(newKey(), CLAIM),
  ]
  for (const text of wrong) assert.equal(readTicketCode(text, [key]), null, text)
  assert.equal(readTicketCode(code, []), null)
})

test('all processes sign with one key, and the published half verifies', async (t) => {
  const sale = await testSale(t)
  await sale.buy(['F7'])
  const again = await loadTicketKey(sale.db.connect(1))
  assert.deepEqual(again.keyId, sale.ticketKey.keyId)
  const reply = await sale.app.inject('/v1/tickets/keys')
  const [published] = reply.json().items
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: published.publicKey }, format: 'jwk' })
  const [ticket] = await sale.sql<{ code: string; id: string }[]>`select code, id from tickets`
  const claim = readTicketCode(ticket?.code ?? '', [{ keyId: Buffer.from(published.id, 'hex'), publicKey }])
  assert.deepEqual(claim, { inventoryId: sale.inventoryId, ticketId: ticket?.id })
})

test('the PNG shows exactly the modules of the QR', () => {
  const code = writeTicketCode(newKey(), CLAIM)
  const modules = encodeQR(code, 'raw', { ecc: 'medium', border: 4 })
  const png = qrPng(code)
  const width = png.readUInt32BE(16)
  assert.equal(width, modules.length * 8)
  const start = png.indexOf('IDAT')
  const lines = inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)))
  const perLine = modules.length + 1
  const shown = modules.map((row, y) => row.map((_, x) => lines[y * 8 * perLine + 1 + x] === 0x00))
  assert.deepEqual(shown, modules)
})

test('B078: a ticket’s QR is its owner’s; a stranger, nobody, a neighbour id and a cancelled ticket are the same 404', async (t) => {
  const sale = await testSale(t)
  const { hold, checkout } = await sale.buy(['F7', 'F8'])
  const owner = { authorization: sale.customer(hold.customerId).authorization }
  const list = await sale.app.inject({ url: `/v1/bookings/${checkout.bookingId}/tickets`, headers: owner })
  const [first, second] = list.json().items
  assert.deepEqual([first.seat, first.status, second.seat], ['F7', 'VALID', 'F8'])
  const get = (id: string, headers: Record<string, string>, kind = 'svg') =>
    sale.app.inject({ url: `/v1/tickets/${id}/qr.${kind}`, headers })
  const svg = await get(first.id, owner)
  assert.match(String(svg.headers['content-type']), /^image\/svg\+xml/)
  assert.match(svg.body, /^<svg .*<\/svg>$/)
  const png = await get(first.id, { 'hold-token': hold.token }, 'png')
  assert.equal(png.headers['content-type'], 'image/png')
  assert.deepEqual(png.rawPayload, qrPng(first.code))

  const { uuid } = parseSharded('ticket', first.id)
  const neighbour = `ticket_${sale.inventoryId}_${uuid.replaceAll('-', '').slice(0, 31)}0`
  const strangers = [
    await get(first.id, { authorization: sale.customer().authorization }),
    await get(first.id, {}),
    await get(neighbour === first.id ? `${neighbour.slice(0, -1)}1` : neighbour, owner),
    await get('ticket_x', owner),
  ]
  await sale.app.inject({
    method: 'DELETE',
    url: `/v1/bookings/${checkout.bookingId}`,
    headers: owner,
    payload: { lines: ['F7'] },
  })
  strangers.push(await get(first.id, owner))
  for (const reply of strangers) assert.deepEqual([reply.statusCode, reply.json().code], [404, 'NOT_FOUND'])
  assert.equal((await get(second.id, owner)).statusCode, 200)
})
