// The waiting room by its doors: what a visitor, a buyer and an operator meet.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type SmallHouse, smallHouse } from '#test/cinema/small-house.ts'
import { runSale, sell } from '#test/http/sell.ts'
import { faultOfDraw, hashSeed, orderByDraw } from '#waiting-room/draw.ts'
import { queueScene, until } from './queue-scene.ts'

// One house for all: the clockwork runs, money moves, and the database's clock stands still.
const FACTS: Record<string, (house: SmallHouse) => Promise<void>> = {
  'without a room nobody waits; with one only who was admitted holds; who leaves makes room for the next': async (
    house,
  ) => {
    const scene = await queueScene(house, 2)
    const [ann, bob] = [house.customer(), house.customer()]
    const early = await scene.join(ann)
    assert.deepEqual([early.status, early.body.status, early.body.admission], [200, 'ADMITTED', undefined])
    assert.equal((await scene.visit(early.body.ticket, ann)).body.status, 'ADMITTED')
    assert.equal((await house.post('/v1/showtimes/show_999/queue', null, ann)).status, 404)
    assert.equal((await house.post(`/v1/showtimes/${scene.show}/queue`, null)).status, 401)

    await scene.room({ status: 'OPEN', activeMax: 1 })
    assert.equal((await scene.visit(early.body.ticket, ann)).body.status, 'LEFT', 'a ticket from before')
    const refused = await scene.hold(ann, ['A5'])
    assert.deepEqual([refused.status, refused.body.code], [403, 'ADMISSION_REQUIRED'])
    assert.equal(refused.body.join, `/v1/showtimes/${scene.show}/queue`)

    const first = await scene.join(ann)
    assert.deepEqual([first.status, first.body.status, first.body.state], [201, 'ADMITTED', 'ADMITTED'], first.text)
    const again = await scene.join(ann)
    assert.deepEqual([again.status, again.body.ticket], [200, first.body.ticket])
    const second = await scene.join(bob)
    assert.deepEqual(
      [second.status, second.body.status, second.body.position, second.body.ahead],
      [201, 'WAITING', 1, 0],
    )
    assert.ok(second.body.etaSeconds > 0)
    assert.equal((await scene.join(house.customer())).body.position, 2)
    assert.equal((await scene.visit(second.body.ticket, ann)).status, 404, 'another’s ticket')
    assert.equal(
      (await scene.visit(second.body.ticket.replace(/_[0-9]{15,16}_/, '_1_'), bob)).status,
      404,
      'an edited one',
    )
    assert.equal(await scene.leave(second.body.ticket, ann), 404)

    assert.equal((await scene.hold(ann, ['A5'])).status, 201, 'the session is known')
    assert.equal((await scene.hold(bob, ['A7'])).status, 403)
    assert.equal(await scene.leave(first.body.ticket, ann), 204)
    assert.equal(await scene.leave(first.body.ticket, ann), 204)
    assert.equal((await scene.visit(second.body.ticket, bob)).body.status, 'ADMITTED')
    assert.equal((await scene.hold(ann, ['A7'], first.body.admission)).status, 403)

    await scene.room({ status: 'OFF' })
    assert.equal((await scene.hold(ann, ['A7'])).status, 201)
  },
  '200 joins of one session at once: one place, one 201': async (house) => {
    const scene = await queueScene(house, 3)
    await scene.room({ status: 'OPEN', activeMax: 1 })
    await scene.join(house.customer())
    const ann = house.customer()
    const replies = await Promise.all(Array.from({ length: 200 }, () => scene.join(ann)))
    assert.equal(replies.filter(({ status }) => status === 201).length, 1)
    assert.equal(new Set(replies.map(({ body }) => body.ticket)).size, 1)
    assert.deepEqual([...new Set(replies.map(({ body }) => body.position))], [1])
    assert.equal((await scene.room({ status: 'OPEN' })).waiting, 1)
  },
  'the crowd before the opening is drawn by the seed whose hash it was told, at opensAt, and everybody can check it':
    async (house) => {
      const scene = await queueScene(house, 4)
      const opensAt = '2026-12-01T00:01:00Z'
      const room = await scene.room({ status: 'PRE_QUEUE', activeMax: 3, opensAt, message: 'Bring water.' })
      assert.match(room.seedHash, /^[0-9a-f]{64}$/)
      const guests = Array.from({ length: 12 }, () => house.customer())
      const tickets = new Map<string, string>()
      for (const guest of guests) {
        const { status, body } = await scene.join(guest)
        assert.deepEqual([status, body.status, body.position, body.seedHash], [201, 'PRE_QUEUE', null, room.seedHash])
        assert.equal(body.message, 'Bring water.')
        assert.ok(body.opensAt)
        tickets.set(guest.customerId, body.ticket)
      }
      const one = guests[0] ?? house.customer()
      const early = await scene.hold(one, ['A5'])
      assert.deepEqual([early.status, early.body.reason], [403, 'NOT_OPEN'])
      const secret = await house.get(`/v1/showtimes/${scene.show}/queue/order`)
      assert.deepEqual([secret.status, secret.body.seed], [409, undefined])

      await house.db.freezeClock(opensAt)
      const states = await until(
        () =>
          Promise.all(
            guests.map(async (guest) => (await scene.visit(tickets.get(guest.customerId) ?? '', guest)).body),
          ),
        (bodies) =>
          bodies.every(({ status }) => status !== 'PRE_QUEUE') && bodies.some(({ status }) => status === 'ADMITTED'),
      )
      const late = await scene.join(house.customer())
      assert.equal(late.body.position, 10)
      const draw = (await house.get(`/v1/showtimes/${scene.show}/queue/order`)).body
      assert.equal(draw.seedHash, room.seedHash)
      assert.equal(hashSeed(draw.seed), room.seedHash)
      assert.equal(faultOfDraw(draw), null)
      const visitorOf = (ticket: string) => ticket.slice(`wait_${scene.inventoryId}_1_`.length).slice(0, 22)
      const told = guests.map((guest, at) => ({
        visitor: visitorOf(tickets.get(guest.customerId) ?? ''),
        ...states[at],
      }))
      assert.deepEqual(
        draw.order,
        orderByDraw(
          draw.seed,
          told.map(({ visitor }) => visitor),
        ),
      )
      for (const { visitor, status, position } of told) {
        const at = draw.order.indexOf(visitor)
        assert.deepEqual([status, position], at < 3 ? ['ADMITTED', null] : ['WAITING', at - 2])
      }
      const { authorization } = await house.key('box_office')
      const asStaff = await house.get(`/v1/admin/showtimes/${scene.show}/waiting-room/order`, { authorization })
      assert.deepEqual(asStaff.body, draw)
    },
  'a purchase frees its place by itself and uses the admission up; sold out is told to all, and seats that come back reopen':
    async (house) => {
      const scene = await queueScene(house, 5)
      await house.db.sql`update seats set status = 'BOOKED', booking_id = gen_random_uuid() 
      where inventory_id = ${scene.inventoryId} and seat_code not in ('C5', 'C6')`
      await scene.room({ status: 'OPEN', activeMax: 1 })
      const [ann, bob] = [house.customer(), house.customer()]
      const first = (await scene.join(ann)).body
      const second = (await scene.join(bob)).body
      const sold = await sell(house, scene.show, ['C5'], ann.authorization)
      await until(
        async () => (await scene.visit(second.ticket, bob)).body.status,
        (status) => status === 'ADMITTED',
      )
      assert.equal((await scene.visit(first.ticket, ann)).body.status, 'LEFT')
      const replayed = await scene.hold(ann, ['C6'], first.admission)
      assert.deepEqual([replayed.status, replayed.body.code], [403, 'ADMISSION_REQUIRED'])

      await sell(house, scene.show, ['C6'], bob.authorization)
      const third = house.customer()
      const told = await until(
        () => scene.join(third),
        ({ body }) => body.status === 'SOLD_OUT',
      )
      assert.equal((await scene.hold(third, ['C5'])).status, 403)
      const cancelled = await house.app.inject({
        method: 'DELETE',
        url: `/v1/bookings/${sold.bookingId}`,
        headers: ann,
      })
      assert.equal(cancelled.statusCode, 200, cancelled.body)
      await until(
        () => scene.visit(told.body.ticket, third),
        ({ body }) => body.status === 'ADMITTED',
      )
      assert.equal((await scene.hold(third, ['C5'])).status, 201)
    },
  'paused nobody new comes in, closed nobody joins and all are told; a pre-queue cannot follow the opening': async (
    house,
  ) => {
    const scene = await queueScene(house, 6)
    const { authorization } = await house.key('admin')
    const put = (payload: object, headers: Record<string, string> = { authorization }) =>
      house.app.inject({ method: 'PUT', url: `/v1/admin/showtimes/${scene.show}/waiting-room`, headers, payload })
    const untouched = await house.get(`/v1/admin/showtimes/${scene.show}/waiting-room`, { authorization })
    assert.deepEqual([untouched.body.status, untouched.body.round], ['OFF', 0])
    assert.equal((await put({ status: 'OPEN' }, house.customer())).statusCode, 403)
    assert.equal(
      (await put({ status: 'OPEN' }, { authorization: (await house.key('scanner')).authorization })).statusCode,
      403,
    )
    for (const wrong of [{}, { status: 'AJAR' }, { status: 'OPEN', activeMax: 0 }, { status: 'OPEN', colour: 'red' }])
      assert.equal((await put(wrong)).statusCode, 422, JSON.stringify(wrong))

    const room = await scene.room({ status: 'PAUSED', activeMax: 7, admitPerMinute: 600 })
    assert.deepEqual([room.status, room.activeMax, room.admitPerMinute, room.round], ['PAUSED', 7, 600, 1])
    const ann = house.customer()
    const { ticket } = (await scene.join(ann)).body
    assert.equal((await scene.visit(ticket, ann)).body.status, 'WAITING')
    assert.equal((await put({ status: 'PRE_QUEUE' })).json().code, 'WAITING_ROOM_OPENED')
    const kept = await scene.room({ status: 'CLOSED', message: 'That was it.' })
    assert.deepEqual([kept.activeMax, kept.admitPerMinute, kept.waiting], [7, 600, 1])
    const closed = (await scene.visit(ticket, ann)).body
    assert.deepEqual([closed.status, closed.message], ['CLOSED', 'That was it.'])
    assert.equal((await scene.join(house.customer())).body.status, 'CLOSED')
    assert.equal((await scene.room({ status: 'OPEN', message: null })).message, null)
    assert.equal((await scene.visit(ticket, ann)).body.status, 'ADMITTED')
    await scene.room({ status: 'OFF' })
    assert.equal((await scene.room({ status: 'PRE_QUEUE' })).round, 2)
  },
  'the stream tells the state when it changes, and ends with the leaving': async (house) => {
    const scene = await queueScene(house, 7)
    await scene.room({ status: 'OPEN', activeMax: 1 })
    const [ann, bob] = [house.customer(), house.customer()]
    const inside = (await scene.join(ann)).body
    const { ticket } = (await scene.join(bob)).body
    const { port } = house.app.server.address() as { port: number }
    const base = `http://127.0.0.1:${port}`
    assert.equal((await fetch(`${base}/v1/queue/${ticket}/stream`, { headers: ann })).status, 404)
    const reply = await fetch(`${base}/v1/queue/${ticket}/stream`, { headers: bob })
    assert.match(reply.headers.get('content-type') ?? '', /^text\/event-stream/)
    const told: string[] = []
    let text = ''
    for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const states = [...text.matchAll(/^event: state\ndata: (.*)$/gm)].map(
        ([, data = '{}']) => JSON.parse(data).status,
      )
      if (states.length > told.length) {
        told.push(...states.slice(told.length))
        if (told.at(-1) === 'WAITING') await scene.leave(inside.ticket, ann)
        if (told.at(-1) === 'ADMITTED') await scene.leave(ticket, bob)
      }
    }
    assert.deepEqual([told[0], told.includes('ADMITTED'), told.at(-1)], ['WAITING', true, 'LEFT'])
  },
}

test('the doors of the waiting room', async (t) => {
  const house = await smallHouse(t as TestContext)
  house.parts.waitingRooms.start()
  await runSale(t as TestContext, house)
  for (const [fact, prove] of Object.entries(FACTS)) await t.test(fact, () => prove(house))
})
