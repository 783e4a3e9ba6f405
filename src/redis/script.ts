// A Lua script that runs in Redis in one step: sent by its hash, and by its text when the server does not know it (restarted, flushed, another node).
import { hash } from 'node:crypto'
import type { Redis } from './connect-redis.ts'

export type Script = { readonly lua: string; readonly sha1: string }

export function script(lua: string): Script {
  return { lua, sha1: hash('sha1', lua) }
}

/** Keys of one call must share a hash tag, or a cluster refuses it. Rejects as every command does. */
export async function runScript(
  redis: Redis,
  { lua, sha1 }: Script,
  keys: string[],
  args: (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha1, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return sendScript(redis, { lua }, keys, args)
  }
}

/** The same by its text at once: one message that does its work even if nobody is left to hear an answer. */
export function sendScript(
  redis: Redis,
  { lua }: Pick<Script, 'lua'>,
  keys: string[],
  args: (string | number)[],
): Promise<unknown> {
  return redis.eval(lua, keys.length, ...keys, ...args)
}
