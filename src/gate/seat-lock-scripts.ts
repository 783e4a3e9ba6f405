// The seat locks in Redis' own language: each is one step that nothing comes between, and all of a call's keys lie in one slot.
// A key is a seat and its value the token of whoever holds it. What else may stand at a key (another type, no end, an end further off than any lock of
// ours) was not written by us: it locks nothing and is overwritten, so that no leftover can keep a free seat from everybody for ever.
import { script } from '#redis/script.ts'

/** ARGV: token, ttlMs, the longest a lock may last. Answers the positions of the keys in the way; none: all are the token's now, from now on ttlMs. */
export const HOLD_ALL = script(`
local taken = {}
for at, key in ipairs(KEYS) do
  local holder = redis.pcall('GET', key)
  if type(holder) == 'string' and holder ~= ARGV[1] then
    local left = redis.call('PTTL', key)
    if left >= 0 and left <= tonumber(ARGV[3]) then taken[#taken + 1] = at end
  end
end
if #taken == 0 then
  for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
end
return taken`)

/** ARGV: token, ttlMs. Answers the positions that are not the token's; none: all last ttlMs from now on. */
export const EXTEND_ALL = script(`
local lost = {}
for at, key in ipairs(KEYS) do
  if redis.pcall('GET', key) ~= ARGV[1] then lost[#lost + 1] = at end
end
if #lost == 0 then
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[2]) end
end
return lost`)

/** ARGV: token. Answers the positions that were the token's and are free now; the others are left as they are. */
export const RELEASE_ALL = script(`
local freed = {}
for at, key in ipairs(KEYS) do
  if redis.pcall('GET', key) == ARGV[1] then
    redis.call('DEL', key)
    freed[#freed + 1] = at
  end
end
return freed`)

/** ARGV: token. Answers milliseconds, one number a key; 0 is not the token's. */
export const REMAINING = script(`
local left = {}
for at, key in ipairs(KEYS) do
  left[at] = redis.pcall('GET', key) == ARGV[1] and math.max(redis.call('PTTL', key), 0) or 0
end
return left`)
