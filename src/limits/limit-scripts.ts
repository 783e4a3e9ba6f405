// The limits in Redis, one script a question, in one step each. Time is Redis' own: clocks of the processes that ask, right or wrong, change nothing.
import { script } from '#redis/script.ts'

// KEYS: a list of microseconds, oldest first. ARGV: window in ms, max. A time ahead of now was written before Redis' clock was set back: it is forgotten
// too, or the clock's step would be added to somebody's wait. Answers ms to wait, attempts left, ms until the oldest is forgotten.
export const TAKE = script(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window, max = ARGV[1] * 1000, tonumber(ARGV[2])
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0) or nil)
while oldest and (oldest <= now - window or oldest > now) do
  redis.call('LPOP', KEYS[1])
  oldest = tonumber(redis.call('LINDEX', KEYS[1], 0) or nil)
end
local count = redis.call('LLEN', KEYS[1])
local wait = 0
if count >= max then
  wait = tonumber(redis.call('LINDEX', KEYS[1], -max)) + window - now
else
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  count = count + 1
end
return { math.ceil(wait / 1000), math.max(0, max - count), math.ceil(((oldest or now) + window - now) / 1000) }
`)

// A seat's history is a hash field: 'END@CUSTOMER END@CUSTOMER ', ends in ms, oldest first; the last may lie ahead, then they have it now.
const HISTORY = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function possession(ends, who) return string.format('%.0f', ends) .. '@' .. who .. ' ' end
local function last(history)
  local ends, who = string.match(history, '(%d+)@(%S+) $')
  return tonumber(ends or nil), who
end
local function without_last(history) return (string.gsub(history, '%d+@%S+ $', '')) end
local function ended(history, who)
  local ends, holder = last(history)
  if ends and ends > now and holder == who then return without_last(history) .. possession(now, who) end
  return history
end
`

// KEYS: the histories of customer and address. ARGV: window in ms, how often, the seats (none: all). Answers seat, ms to wait, seat, ms ...
export const COOLING = script(`${HISTORY}
local window, often = tonumber(ARGV[1]), tonumber(ARGV[2])
local found = {}
local function look(seat, history)
  local ends = {}
  for text in string.gmatch(history or '', '(%d+)@') do
    local at = tonumber(text)
    if at <= now and at > now - window then ends[#ends + 1] = at end
  end
  if #ends >= often then
    found[#found + 1] = seat
    found[#found + 1] = ends[#ends - often + 1] + window - now
  end
end
for _, key in ipairs(KEYS) do
  if #ARGV > 2 then
    for n = 3, #ARGV do look(ARGV[n], redis.call('HGET', key, ARGV[n])) end
  else
    local all = redis.call('HGETALL', key)
    for n = 1, #all, 2 do look(all[n], all[n + 1]) end
  end
end
return found
`)

// KEYS: as above, the customer's first. ARGV: customer, ms it is held for, ms to remember it, how many possessions to remember, the seats.
export const HELD = script(`${HISTORY}
local who, ends, keep_ms, keep = ARGV[1], now + ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local seats = {}
for n = 5, #ARGV do seats[ARGV[n]] = true end
local own = redis.call('HGETALL', KEYS[1])
for n = 1, #own, 2 do
  if not seats[own[n]] then redis.call('HSET', KEYS[1], own[n], ended(own[n + 1], who)) end
end
for _, key in ipairs(KEYS) do
  for seat in pairs(seats) do
    local history = redis.call('HGET', key, seat) or ''
    local last_end, holder = last(history)
    if last_end and last_end > now then
      history = without_last(history)
      if holder ~= who then history = history .. possession(now, holder) end
    end
    history = history .. possession(ends, who)
    while select(2, string.gsub(history, '@', '')) > keep do history = string.gsub(history, '^%d+@%S+ ', '') end
    redis.call('HSET', key, seat, history)
  end
  redis.call('PEXPIRE', key, keep_ms)
end
`)

// KEYS: as above. ARGV: customer, the seats.
export const LET_GO = script(`${HISTORY}
for _, key in ipairs(KEYS) do
  for n = 2, #ARGV do
    local history = redis.call('HGET', key, ARGV[n])
    if history then redis.call('HSET', key, ARGV[n], ended(history, ARGV[1])) end
  end
end
`)
