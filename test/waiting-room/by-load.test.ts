// A room that nobody switched on: when more try to hold seats of one show than the operator wants to see at once, it opens by itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { smallHouse } from '#test/cinema/small-house.ts'
import { queueScene, until } from './queue-scene.ts'

test('above the threshold the room opens by itself, for this show only; below it nothing happens', async (t) => {
  const house = await smallHouse(t, { WAITING_ROOM_AUTO_HOLDS_PER_SECOND: '20' })
  house.parts.waitingRooms.start()
  t.after(() => house.parts.waitingRooms.close())
  const [hot, calm] = [await queueScene(house, 2), await queueScene(house, 3)]
  const { authorization } = await house.key('admin')
  const statusOf = async (show: string) =>
    (await house.get(`/v1/admin/showtimes/${show}/waiting-room`, { authorization })).body.status as string
  await calm.hold(house.customer(), ['B1'])

  // As a crowd does it: again and again, until it is told to wait in line.
  const opened = await until(
    async () => {
      const wishes = Array.from({ length: 30 }, () => hot.hold(house.customer(), ['B1']))
      return (await Promise.all(wishes)).filter(({ body }) => body.code === 'ADMISSION_REQUIRED').length
    },
    (refused) => refused > 0,
  )
  assert.ok(opened > 0)
  assert.deepEqual([await statusOf(hot.show), await statusOf(calm.show)], ['OPEN', 'OFF'])
  const guest = house.customer()
  assert.equal((await hot.join(guest)).body.status, 'ADMITTED')
  assert.equal((await hot.hold(guest, ['C1'])).status, 201)
  assert.equal((await calm.hold(house.customer(), ['C1'])).status, 201)
})
