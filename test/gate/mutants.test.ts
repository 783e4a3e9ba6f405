// Negative controls of the seat locks: with one protection taken out of a script, the contract must notice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXTEND_ALL, HOLD_ALL, RELEASE_ALL } from '#gate/seat-lock-scripts.ts'
import { createSeatLocks } from '#gate/seat-locks.ts'
import { connectRedis, type Redis } from '#redis/connect-redis.ts'
import { startRedis, untilReady } from '#test/support/redis.ts'
import { LOCK_TTL_MS, lockFacts } from './lock-facts.ts'

const MUTANTS: { without: string; cut: [string, string]; noticedBy: RegExp }[] = [
  {
    without: 'the comparison before a delete',
    cut: [
      "if redis.pcall('GET', key) == ARGV[1] then\n    redis.call('DEL', key)",
      "if redis.call('DEL', key) == 1 then",
    ],
    noticedBy: /only the token releases/,
  },
  {
    without: 'the way in for the same token',
    cut: [' and holder ~= ARGV[1] then\n    local left', ' then\n    local left'],
    noticedBy: /the same token comes in again/,
  },
  {
    without: 'the look at all seats before the first is taken',
    cut: [
      'taken[#taken + 1] = at end',
      "taken[#taken + 1] = at end\n  else redis.call('SET', key, ARGV[1], 'PX', ARGV[2])",
    ],
    noticedBy: /all seats or none/,
  },
  {
    without: 'the end of a lock',
    cut: ["redis.call('SET', key, ARGV[1], 'PX', ARGV[2])", "redis.call('SET', key, ARGV[1])"],
    noticedBy: /begins a new time/,
  },
  {
    without: 'the suspicion against a key that has no end, or one too far off',
    cut: ['if left >= 0 and left <= tonumber(ARGV[3]) then', 'if true then'],
    noticedBy: /what we did not write locks nothing/,
  },
  {
    without: 'the comparison before an extension',
    cut: ['lost[#lost + 1] = at end\nend\nif #lost', 'end\nend\nif #lost'],
    noticedBy: /by the token only/,
  },
]

test('each protection that is taken out is missed by a fact; with all of them none is', async (t) => {
  const { url } = await startRedis(t)
  assert.deepEqual(await broken(url, null), [])
  for (const { without, cut, noticedBy } of MUTANTS) {
    const names = await broken(url, cut)
    t.diagnostic(`without ${without}: ${names.join('; ')}`)
    assert.ok(
      names.some((name) => noticedBy.test(name)),
      `without ${without}, only these noticed: ${names.join('; ')}`,
    )
  }
})

/** The names of the facts that are not true of locks whose scripts are cut like this. */
async function broken(url: string, cut: [string, string] | null): Promise<string[]> {
  const [redis, other] = [
    connectRedis([url], { commandTimeoutMs: 5_000 }),
    connectRedis([url], { commandTimeoutMs: 5_000 }),
  ]
  for (const one of [redis, other]) await untilReady(one)
  await redis.flushall()
  if (cut !== null) for (const one of [redis, other]) mutateScripts(one, cut)
  const options = { prefix: 't', ttlMaxMs: LOCK_TTL_MS }
  const ground = { redis, rounds: 20, locks: createSeatLocks(redis, options), rival: createSeatLocks(other, options) }
  const names: string[] = []
  for (const { name, check } of lockFacts) await check(ground).catch(() => names.push(name))
  for (const one of [redis, other]) one.disconnect()
  return names
}

/** The product has no switch for it: every script is sent by its text, and the text is cut on its way. */
function mutateScripts(redis: Redis, [text, instead]: [string, string]): void {
  const known = [HOLD_ALL, EXTEND_ALL, RELEASE_ALL].some(({ lua }) => lua.includes(text))
  assert.ok(known, `no script has any longer: ${text}`)
  const send = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>
  Object.assign(redis, {
    evalsha: async () => {
      throw new Error('NOSCRIPT this one is told by its text')
    },
    eval: (lua: string, ...rest: unknown[]) => send(lua.replaceAll(text, instead), ...rest),
  })
}
