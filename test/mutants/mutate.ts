// Takes one protection out of a SQL function, in the test's own database only: the product has no switch for it.
import assert from 'node:assert/strict'
import type { TestDatabase } from '#test/support/database.ts'

/** Each cut is a text of the function and what stands there instead; a text that is not found fails, for then nothing was taken out. */
export async function mutate(
  db: TestDatabase,
  name: string,
  ...cuts: [text: string, instead: string][]
): Promise<void> {
  const [found] = await db.sql<
    { source: string }[]
  >`select pg_get_functiondef(oid) as source from pg_proc where proname = ${name}`
  let source = found?.source ?? ''
  for (const [text, instead] of cuts) {
    assert.ok(source.includes(text), `${name} has no longer: ${text}`)
    source = source.replaceAll(text, instead)
  }
  await db.sql.unsafe(source)
}
