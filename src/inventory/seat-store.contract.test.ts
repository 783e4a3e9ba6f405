// The contract of seat-store.ts, fact by fact, for both stores; the product's is audited after each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchFacts, poolFacts } from '#test/contract/batches.ts'
import { endingFacts } from '#test/contract/ending.ts'
import { memoryGround, postgresGround } from '#test/contract/ground.ts'
import { placingFacts } from '#test/contract/placing.ts'
import { sellingFacts } from '#test/contract/selling.ts'
import { freshDatabase } from '#test/support/database.ts'
import { auditInventories } from './audit/audit-inventories.ts'

for (const { name, check } of [...placingFacts, ...endingFacts, ...sellingFacts, ...poolFacts, ...batchFacts]) {
  test(`memory: ${name}`, () => check(memoryGround()))

  test(`postgres: ${name}`, async (t) => {
    const db = await freshDatabase(t)
    await check(await postgresGround(db))
    assert.deepEqual(await auditInventories(db.sql), [])
  })
}
