// A system as many begin: it looks whether the seats are free and saves the sale a moment later. It speaks the contract well enough to be rushed, and sells
// twice: the control that a rush would notice.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const SEATS = 40
const BETWEEN_LOOK_AND_SAVE_MS = 25
const PRICE_MINOR = 1_000

type Sale = { seats: string[]; paid: boolean; confirmed: boolean }

/** Answers its address. `breaks`: answers 500 to every payment instead. */
export async function startNaiveSystem(t: TestContext, { breaks = false } = {}): Promise<string> {
  const taken = new Set<string>()
  const sales = new Map<string, Sale>()
  let next = 1
  const seats = Array.from({ length: SEATS }, (_, n) => ({
    ...{ code: `A${n + 1}`, row: 'A', number: String(n + 1), x: n, y: 0, category: 'STANDARD' },
  }))
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || '{}') as { seats?: string[] }
    const [path = '', query] = (request.url ?? '').split('?')
    const id = path.split('/')[3] ?? ''
    const sale = sales.get(id)
    if (path === '/v1/sessions') return answer(response, 201, { token: `token-${next++}` })
    if (path === '/v1/showtimes/show_1/seats') return answer(response, 200, map(query === 'view=status'))
    if (path === '/v1/showtimes') return answer(response, 200, { items: [] })
    if (path === '/v1/showtimes/show_1/holds') return hold(response, body.seats ?? freeSeats().slice(0, 2))
    if (path.endsWith('/checkout'))
      return answer(response, 201, {
        bookingId: id,
        status: 'PENDING',
        paymentUrl: `http://pay.example/sandbox/pay/${id}`,
      })
    if (path.endsWith('/pay')) {
      const paid = sales.get(path.split('/')[3] ?? '')
      if (paid) paid.paid = paid.confirmed = true
      return breaks ? answer(response, 500, { code: 'INTERNAL' }) : answer(response, 200, {})
    }
    if (path.startsWith('/v1/bookings/') && sale && request.method === 'GET')
      return answer(response, 200, booking(id, sale))
    return answer(response, 404, { code: 'NOT_FOUND' })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function hold(response: ServerResponse, wanted: string[]): Promise<void> {
    if (wanted.length === 0) return answer(response, 409, { code: 'NOT_ENOUGH_SEATS' })
    if (wanted.some((seat) => taken.has(seat))) return answer(response, 409, { code: 'SEATS_UNAVAILABLE' })
    await sleep(BETWEEN_LOOK_AND_SAVE_MS)
    for (const seat of wanted) taken.add(seat)
    const id = `sale-${next++}`
    sales.set(id, { seats: wanted, paid: false, confirmed: false })
    const amount = { amount: PRICE_MINOR * wanted.length, currency: 'EUR' }
    answer(response, 201, { holdId: id, seats: wanted, amount, remainingMs: 600_000 })
  }

  function freeSeats(): string[] {
    return seats.map(({ code }) => code).filter((code) => !taken.has(code))
  }

  function map(statusOnly: boolean): object {
    const letter = (code: string) =>
      [...sales.values()].some((sale) => sale.confirmed && sale.seats.includes(code))
        ? 'B'
        : taken.has(code)
          ? 'H'
          : 'A'
    if (statusOnly) return { version: 1, statuses: seats.map(({ code }) => letter(code)).join('') }
    return { showtimeId: 'show_1', asOf: '2026-12-01T00:00:00Z', currency: 'EUR', seats }
  }

  function booking(id: string, { seats: sold, confirmed }: Sale): object {
    const amount = { amount: PRICE_MINOR * sold.length, currency: 'EUR' }
    const nothing = { amount: 0, currency: 'EUR' }
    return {
      ...{ id, amount, status: confirmed ? 'CONFIRMED' : 'PENDING', refunds: [], tickets: [] },
      lines: sold.map((seat) => ({ seat, status: 'ACTIVE' })),
      payments: [
        {
          status: confirmed ? 'CAPTURED' : 'CREATED',
          amount,
          captured: confirmed ? amount : nothing,
          refunded: nothing,
        },
      ],
    }
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function text(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
