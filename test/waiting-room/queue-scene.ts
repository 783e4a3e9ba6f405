// A show with a waiting room, for tests that come in by the door: what a visitor and an operator do, each in a word.
import assert from 'node:assert/strict'
import type { Reply, SmallHouse } from '#test/cinema/small-house.ts'

export type Guest = { authorization: string; customerId: string }

export type QueueScene = {
  show: string
  inventoryId: number
  /** The operator's PUT; answers the room. */
  room(body: object): Promise<Reply['body']>
  join(guest: Guest): Promise<Reply>
  visit(ticket: string, guest: Guest, admission?: string): Promise<Reply>
  leave(ticket: string, guest: Guest): Promise<number>
  hold(guest: Guest, seats: string[], admission?: string): Promise<Reply>
  checkOut(guest: Guest, holdId: string, admission?: string, key?: string): Promise<Reply>
}

/** Each scene of a house is a show on another day of December, from the second on. */
export async function queueScene(house: SmallHouse, day = 2): Promise<QueueScene> {
  const show = await house.show({ startsLocal: `2026-12-${String(day).padStart(2, '0')}T18:45` })
  const { authorization } = await house.key('admin')
  const pass = (admission?: string): Record<string, string> =>
    admission === undefined ? {} : { 'holdfast-admission': admission }
  return {
    show,
    inventoryId: Number(show.slice(5)),
    async room(body) {
      const url = `/v1/admin/showtimes/${show}/waiting-room`
      const reply = await house.app.inject({ method: 'PUT', url, headers: { authorization }, payload: body })
      assert.equal(reply.statusCode, 200, reply.body)
      return reply.json()
    },
    join: (guest) => house.post(`/v1/showtimes/${show}/queue`, null, guest),
    visit: (ticket, guest, admission) => house.get(`/v1/queue/${ticket}`, { ...guest, ...pass(admission) }),
    async leave(ticket, guest) {
      const reply = await house.app.inject({ method: 'DELETE', url: `/v1/queue/${ticket}`, headers: guest })
      return reply.statusCode
    },
    hold: (guest, seats, admission) =>
      house.post(`/v1/showtimes/${show}/holds`, { seats }, { ...guest, ...pass(admission) }),
    checkOut: (guest, holdId, admission, key = holdId) =>
      house.post(`/v1/holds/${holdId}/checkout`, {}, { ...guest, 'idempotency-key': key, ...pass(admission) }),
  }
}

/** Asks again until it is so; the house's clockwork runs twice a second. */
export async function until<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean, ms = 8_000): Promise<T> {
  for (const endMs = performance.now() + ms; ; ) {
    const answer = await ask()
    if (isSo(answer)) return answer
    assert.ok(performance.now() < endMs, `still ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
