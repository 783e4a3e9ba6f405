// SB5: an admission that is forged, another session's, of another show or round, over, or used up opens nothing, at the hold and at the checkout; and of many
// checkouts at once with one admission exactly one is made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAudit } from '#admin/run-audit.ts'
import { newUuid } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { Tx } from '#database/connect.ts'
import { startCheckout } from '#payments/start-checkout.ts'
import { smallHouse } from '#test/cinema/small-house.ts'
import type { AdmissionUse } from '#waiting-room/claim-admission.ts'
import { readAdmission, visitorOf, writeAdmission } from '#waiting-room/ticket.ts'
import { queueScene } from './queue-scene.ts'

test('SB5 and single use', async (t) => {
  const house = await smallHouse(t)
  const scene = await queueScene(house, 2)
  const other = await queueScene(house, 3)
  await scene.room({ status: 'OPEN', activeMax: 50 })
  await other.room({ status: 'OPEN', activeMax: 50 })
  const { mac } = house.parts.waitingRooms
  const ann = house.customer()
  const bob = house.customer()
  const { admission } = (await scene.join(ann)).body
  const bobs = (await scene.join(bob)).body.admission
  const elsewhere = (await other.join(ann)).body.admission
  const signed = readAdmission(mac, admission)
  assert.ok(signed)

  await t.test('what is not a good admission of this session is 403 at the hold and at the checkout', async () => {
    const held = await scene.hold(ann, ['A3'], admission)
    assert.equal(held.status, 201, held.text)
    const bad: Record<string, string> = {
      'another session’s': bobs,
      'another show’s': elsewhere,
      'an edited end': admission.replace(String(signed.endMs), String(signed.endMs + 600_000)),
      'an edited signature': `${admission.slice(0, -2)}${admission.endsWith('AA') ? 'BB' : 'AA'}`,
      'of another round': writeAdmission(mac, { ...signed, round: 2 }),
      'an earlier one of this visitor': writeAdmission(mac, { ...signed, no: signed.no - 1 }),
      'nothing of ours': 'adm_1_1_x',
      empty: '',
    }
    for (const [what, pass] of Object.entries(bad)) {
      const hold = await scene.hold(ann, ['B1'], pass)
      assert.deepEqual([hold.status, hold.body.code], [403, 'ADMISSION_REQUIRED'], what)
      const checkout = await scene.checkOut(ann, held.body.holdId, pass, `k-${what.length}`)
      assert.deepEqual([checkout.status, checkout.body.code], [403, 'ADMISSION_REQUIRED'], what)
    }
    const stranger = house.customer()
    assert.equal((await scene.hold(stranger, ['C1'], admission)).status, 403)
    const desk = { ...(await house.key('box_office')), customerId: '' }
    assert.equal((await scene.hold(desk, ['D1'])).status, 201, 'staff needs none')
    assert.equal((await scene.checkOut(ann, held.body.holdId)).status, 201)
  })

  await t.test('seats held before a room was on are paid without an admission', async () => {
    const third = await queueScene(house, 4)
    const held = await third.hold(ann, ['A3'])
    await house.db.freezeClock('2026-12-01T00:00:05Z')
    await third.room({ status: 'OPEN', activeMax: 5 })
    assert.equal((await third.hold(bob, ['B1'])).status, 403)
    const paying = await third.checkOut(ann, held.body.holdId)
    assert.equal(paying.status, 201, paying.text)
  })

  await t.test(
    '32 checkouts at once with one admission: one is made, 31 are refused; look-then-write makes more',
    async () => {
      for (let round = 0; round < 3; round++) {
        const held = await queueScene(house, 10 + round)
        const holds: string[] = []
        for (let n = 0; n < 32; n++) {
          const seat = `${'ABCDE'[Math.floor(n / 10)]}${(n % 10) + 1}`
          const reply = await held.hold(house.customer(), [seat])
          assert.equal(reply.status, 201, reply.text)
          holds.push(dashed(reply.body.holdId))
        }
        const { inventoryId } = held
        const use: AdmissionUse = { inventoryId, round: 1, visitor: visitorOf(mac, inventoryId, 1, 'ann'), no: 1 }
        const outcomes = await Promise.allSettled(
          holds.map((holdId) => startCheckout(house.parts, { inventoryId, holdId, contact: {}, admission: use })),
        )
        const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
        assert.equal(refused.length, 31)
        for (const reason of refused)
          assert.ok(reason instanceof Problem && reason.code === 'ADMISSION_REQUIRED', reason)
      }

      // The control: the same crowd, with a claim that looks first and writes then.
      const use: AdmissionUse = { inventoryId: 1, round: 9, visitor: 'v', no: 1 }
      await house.db.sql`alter table admission_purchases drop constraint admission_purchases_pkey`
      const wins = await Promise.all(Array.from({ length: 32 }, () => house.db.sql.begin((tx) => naiveClaim(tx, use))))
      assert.ok(wins.filter(Boolean).length > 1, 'the control sells one admission several times')
      await house.db.sql`delete from admission_purchases where round = 9`
    },
  )

  const { findings } = await runAudit(house.db.sql)
  assert.deepEqual(findings, [])
})

async function naiveClaim(tx: Tx, { inventoryId, round, visitor, no }: AdmissionUse): Promise<boolean> {
  const used = await tx`select from admission_purchases where round = ${round} and visitor = ${visitor}`
  if (used.count > 0) return false
  await tx`
    insert into admission_purchases (inventory_id, round, visitor, admission_no, hold_id, claimed_at)
    values (${inventoryId}, ${round}, ${visitor}, ${no}, ${newUuid()}, now())`
  return true
}

function dashed(publicId: string): string {
  const hex = publicId.split('_')[2] ?? ''
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
