// Which providers there are is the operator's to say: nobody sells for nothing in production by accident.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '#config.ts'
import { freshDatabase } from '#test/support/database.ts'
import { openProviders } from './open-providers.ts'

test('production refuses the sandbox in one sentence, unless it is allowed; development has it', async (t) => {
  const { sql } = await freshDatabase(t)
  const names = async (env: Record<string, string>) => {
    const providers = await openProviders({ sql, config: loadConfig(env), wake: () => {} })
    return providers.map(({ name }) => name)
  }
  const production = { HOLDFAST_MODE: 'production', PUBLIC_URL: 'https://tickets.example.com' }
  await assert.rejects(names(production), {
    name: 'StartRefused',
    message: /^In production .*ALLOW_SANDBOX is not on\.$/,
  })
  assert.deepEqual(await names({ ...production, ALLOW_SANDBOX: 'on' }), ['sandbox', 'cash'])
  assert.deepEqual(await names({}), ['sandbox', 'cash'])
})
