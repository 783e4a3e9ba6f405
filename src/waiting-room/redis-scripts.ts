// The moves of a waiting room as scripts, each one step in Redis, on Redis' clock. They do what memory-room.ts does, under the same names.
import { script } from '#redis/script.ts'
import { PACE_MEMORY_MS } from './estimate-wait.ts'
import { MOVES_MAX } from './memory-room.ts'

/** The keys of a round, all in one slot: who waits by place, by last sign of life, who is inside until when, their passes, the draw, and the rest. */
export const KEY_NAMES = ['line', 'seen', 'active', 'passes', 'drawn', 'round'] as const
// A round that nobody moves any more is gone after this.
const KEPT_MS = 86_400_000
const PACE_STEP_MS = 250

// ARGV 1-6 are the room's settings and the store's rules, the rest is each script's own. Numbers beyond 10^14 must not go through Lua's own text form.
const GROUND = `
local LINE, SEEN, ACTIVE, PASSES, DRAWN, ROUND = unpack(KEYS)
local STATUS, SELLING = ARGV[1], ARGV[2] == '1'
local ACTIVE_MAX, PER_MS = tonumber(ARGV[3]), tonumber(ARGV[4]) / 60000
local GONE_MS, ADMISSION_TTL_MS = tonumber(ARGV[5]), tonumber(ARGV[6])
local call = redis.call
local time = call('TIME')
local NOW_US = tonumber(time[1]) * 1000000 + tonumber(time[2])
local NOW = math.floor(NOW_US / 1000)

local function whole(number) return string.format('%.0f', number) end
local function exact(number) return string.format('%.17g', number) end

local function begin(fresh)
  local believes, admits = 0, 0
  if not fresh then believes = NOW + GONE_MS end
  if not fresh and STATUS ~= 'PRE_QUEUE' then admits = NOW + GONE_MS end
  call('HSET', ROUND, 'believesUntil', whole(believes), 'admitsFrom', whole(admits), 'paceAt', whole(NOW), 'allowance', '1', 'allowanceAt', whole(NOW))
end
if call('EXISTS', ROUND) == 0 then begin(false) end
if STATUS ~= 'PRE_QUEUE' then call('HSETNX', ROUND, 'opened', '1') end
local function field(name) return tonumber(call('HGET', ROUND, name) or 0) end
local OPENED, BELIEVES = field('opened') == 1, NOW < field('believesUntil')

local function count(name, by) if by > 0 then call('HINCRBY', ROUND, name, by) end end
local function enter(visitor, score)
  call('ZADD', LINE, score, visitor)
  call('ZADD', SEEN, whole(NOW), visitor)
end
local function depart(visitor)
  call('ZREM', SEEN, visitor)
  return call('ZREM', LINE, visitor)
end
local function dismiss(visitor)
  call('HDEL', PASSES, visitor)
  return call('ZREM', ACTIVE, visitor)
end
local function dropIfGone(visitor)
  local ends = call('ZSCORE', ACTIVE, visitor)
  if ends and tonumber(ends) <= NOW then count('freed', dismiss(visitor)) end
  local seen = call('ZSCORE', SEEN, visitor)
  if seen and tonumber(seen) + GONE_MS <= NOW then count('departed', depart(visitor)) end
end
local function passOf(visitor)
  local no, ends, score = string.match(call('HGET', PASSES, visitor), '(%d+):(%d+):(-?%d+)')
  return no, ends, score
end

local function seen(visitor, keepMs)
  dropIfGone(visitor)
  local lasts = call('ZSCORE', ACTIVE, visitor)
  if lasts then
    local _, ends = passOf(visitor)
    ends = tonumber(ends)
    local kept = 0
    if keepMs > 0 then kept = math.min(NOW, ends) + keepMs end
    call('ZADD', ACTIVE, whole(math.max(tonumber(lasts), kept, math.min(NOW + GONE_MS, ends))), visitor)
    return true
  end
  if not call('ZSCORE', SEEN, visitor) then return false end
  call('ZADD', SEEN, whole(NOW), visitor)
  return true
end

local function place(visitor, first)
  local free = math.max(0, ACTIVE_MAX - call('ZCARD', ACTIVE))
  local pace = call('HMGET', ROUND, 'paceFreed', 'paceTime', 'paceDeparted', 'paceWaited')
  local function answer(status, score, ahead, no, lasts, ends)
    return { status, first, score, ahead, free, whole(NOW), pace[1] or '0', pace[2] or '0', pace[3] or '0', pace[4] or '0', no or '', lasts or '', ends or '' }
  end
  local lasts = call('ZSCORE', ACTIVE, visitor)
  if lasts then
    local no, ends, score = passOf(visitor)
    return answer('ADMITTED', score, 0, no, lasts, ends)
  end
  local ahead = call('ZRANK', LINE, visitor)
  if not ahead then return answer('GONE', whole(NOW_US), 0) end
  local score = whole(tonumber(call('ZSCORE', LINE, visitor)))
  if OPENED then return answer('WAITING', score, ahead) end
  return answer('PRE_QUEUE', score, ahead)
end

local function admit()
  local allowance = ${MOVES_MAX}
  if PER_MS > 0 then
    allowance = math.min(field('allowance') + (NOW - field('allowanceAt')) * PER_MS, math.max(1, PER_MS * 1000))
    call('HSET', ROUND, 'allowance', exact(allowance), 'allowanceAt', whole(NOW))
  end
  if STATUS ~= 'OPEN' or not SELLING or NOW < field('admitsFrom') then return 0 end
  local free = math.min(ACTIVE_MAX - call('ZCARD', ACTIVE), ${MOVES_MAX}, math.floor(allowance))
  local admitted = 0
  while admitted < free do
    local next = call('ZPOPMIN', LINE)
    if #next == 0 then break end
    local visitor, score = next[1], whole(tonumber(next[2]))
    local last = call('ZSCORE', SEEN, visitor)
    call('ZREM', SEEN, visitor)
    local ends = NOW + ADMISSION_TTL_MS
    local lasts = math.min(tonumber(last or 0) + GONE_MS, ends)
    if lasts > NOW then
      call('ZADD', ACTIVE, whole(lasts), visitor)
      call('HSET', PASSES, visitor, whole(NOW_US) .. ':' .. whole(ends) .. ':' .. score)
      admitted = admitted + 1
    end
  end
  if PER_MS > 0 and admitted > 0 then call('HSET', ROUND, 'allowance', exact(allowance - admitted)) end
  return admitted
end
`

const move = (own: string) => script(GROUND + own)

export const BEGIN = move(`
call('DEL', unpack(KEYS))
begin(true)
if STATUS ~= 'PRE_QUEUE' then call('HSET', ROUND, 'opened', '1') end
return 1`)

/** 7 visitor, 8 their place should the draw decide. */
export const JOIN = move(`
local visitor = ARGV[7]
if seen(visitor, 0) or STATUS == 'CLOSED' then return place(visitor, 0) end
if OPENED then
  local score = math.max(NOW_US, field('lastUs') + 1)
  call('HSET', ROUND, 'lastUs', whole(score))
  enter(visitor, whole(score))
else
  call('ZADD', DRAWN, ARGV[8], visitor)
  enter(visitor, ARGV[8])
end
admit()
return place(visitor, 1)`)

/** 7 visitor, 8 milliseconds to keep, 9 score of the ticket or empty, 10-12 number, until and end of the signed admission, or empty. */
export const VISIT = move(`
local visitor, score = ARGV[7], ARGV[9]
local known = seen(visitor, tonumber(ARGV[8]))
local function believe()
  if call('ZSCORE', ACTIVE, visitor) then return end
  if ARGV[10] ~= '' and NOW < field('admitsFrom') and NOW < tonumber(ARGV[11]) then
    depart(visitor)
    call('ZADD', ACTIVE, ARGV[11], visitor)
    if score == '' then score = whole(NOW_US) end
    call('HSET', PASSES, visitor, ARGV[10] .. ':' .. ARGV[12] .. ':' .. score)
    return
  end
  if score == '' or STATUS == 'CLOSED' or (OPENED and not BELIEVES) then return end
  local has = call('ZSCORE', LINE, visitor)
  if has and tonumber(has) <= tonumber(score) then return end
  if tonumber(score) < 0 then call('ZADD', DRAWN, score, visitor) end
  enter(visitor, score)
end
if not known or BELIEVES then believe() end
return place(visitor, 0)`)

/** 7... visitors. */
export const LEAVE = move(`
for at = 7, #ARGV do
  if dismiss(ARGV[at]) == 1 then count('freed', 1) else count('departed', depart(ARGV[at])) end
  if not OPENED then call('ZREM', DRAWN, ARGV[at]) end
end
return 1`)

export const OPEN = move(`return call('HSET', ROUND, 'opened', '1')`)

export const MOVE = move(`
for _, visitor in ipairs(call('ZRANGEBYSCORE', ACTIVE, '-inf', whole(NOW), 'LIMIT', 0, ${MOVES_MAX})) do count('freed', dismiss(visitor)) end
for _, visitor in ipairs(call('ZRANGEBYSCORE', SEEN, '-inf', whole(NOW - GONE_MS), 'LIMIT', 0, ${MOVES_MAX})) do count('departed', depart(visitor)) end
local stepMs, waiting = NOW - field('paceAt'), call('ZCARD', LINE)
if stepMs >= ${PACE_STEP_MS} then
  if waiting > 0 and STATUS == 'OPEN' and SELLING then
    local weight = math.exp(-stepMs / ${PACE_MEMORY_MS})
    call('HSET', ROUND, 'paceFreed', exact(field('paceFreed') * weight + field('freed')), 'paceTime', exact(field('paceTime') * weight + stepMs),
      'paceDeparted', exact(field('paceDeparted') * weight + field('departed')), 'paceWaited', exact(field('paceWaited') * weight + waiting * stepMs))
  end
  call('HSET', ROUND, 'paceAt', whole(NOW), 'freed', '0', 'departed', '0')
end
local admitted = admit()
for _, key in ipairs(KEYS) do call('PEXPIRE', key, ${KEPT_MS}) end
return { call('ZCARD', LINE), call('ZCARD', ACTIVE), admitted }`)

/** One key; 1 attempts. Answers what all processes counted in the last whole second. */
export const COUNT_ATTEMPTS = script(`
local second = redis.call('TIME')[1]
local kept = redis.call('HMGET', KEYS[1], 'second', 'count', 'before')
local count, before = 0, 0
if kept[1] == second then
  count, before = tonumber(kept[2]), tonumber(kept[3])
elseif kept[1] and tonumber(kept[1]) == tonumber(second) - 1 then
  before = tonumber(kept[2])
end
redis.call('HSET', KEYS[1], 'second', second, 'count', count + tonumber(ARGV[1]), 'before', before)
redis.call('PEXPIRE', KEYS[1], 10000)
return before`)
