"""What changes a partition, inside the Redis server: each change whole or not at all, and never beyond the budget.

Arguments: base of the keys, now, and what to do:
- `add` id record most bytes: newest everywhere; what ended makes room, then what was used least
- `used` id
- `forget` id
- `tidy` marks: take out what ended, and what these hashes and codes lead to though it is gone
"""

from __future__ import annotations

from gateway.stores._scripts import script

CHANGE = script("""
local function each(marks, visit)
  local prefixes, chunks, codes = byte(marks, 1, 3)
  for number = 0, prefixes + chunks - 1 do
    local hash = sub(marks, 4 + 8 * number, 11 + 8 * number)
    visit(bucket(hash), (number < prefixes and 'p' or 'c') .. hash, '', CROWD)
  end
  for number = 0, codes - 1 do
    local at = 4 + 8 * (prefixes + chunks + number)
    for band = 0, 3 do
      local value = sub(marks, at + 2 * band, at + 2 * band + 1)
      visit(base .. 'b' .. codes .. number .. band, value, sub(marks, at, at + 7), CROWD_OF_CODES)
    end
  end
end

local function cost(record)
  local hashes = byte(record, HEAD + 1) + byte(record, HEAD + 2)
  return #record + ENTRY_COST + MARK_COST * hashes + CODE_COST * byte(record, HEAD + 3)
end

local function filtered(list, width, keep)
  local left = {}
  for i = 1, #list - width + 1, width do
    if keep(sub(list, i, i + 7)) then left[#left + 1] = sub(list, i, i + width - 1) end
  end
  return left
end

local function set(key, field, entries)
  if #entries == 0 then redis.call('HDEL', key, field) return end
  if type(redis.pcall('HSET', key, field, table.concat(entries))) == 'table' then  -- there is something else there
    redis.call('UNLINK', key)
    redis.call('HSET', key, field, table.concat(entries))
  end
end

local seen_to = {}
local function lives_until(key, seconds)
  if seen_to[key] then return end
  seen_to[key] = true
  local wanted = math.min(math.ceil((seconds - now) * 1000), 1e12)
  if redis.call('PTTL', key) < wanted then redis.call('PEXPIRE', key, wanted + 60000) end
end

local function drop(id)
  local record = get(records, id)
  redis.call('ZREM', used, id)
  redis.call('ZREM', ends, id)
  if not record or id == 'bytes' then return end
  redis.call('HDEL', records, id)
  if not ours(record) then return end
  redis.call('HINCRBY', records, 'bytes', -cost(record))
  each(sub(record, HEAD + 1), function(key, field, code)
    local list = get(key, field)
    if list then set(key, field, filtered(list, 8 + #code, function(other) return other ~= id end)) end
  end)
end

local function sweep(most)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, most)) do drop(id) end
end

local function whole()
  local known = redis.pcall('HLEN', records)
  local by_use, by_end = redis.pcall('ZCARD', used), redis.pcall('ZCARD', ends)
  if type(known) ~= 'number' then return false end
  if known > 0 then known = known - 1 end
  return known == by_use and known == by_end
end

local function leave_if_empty()
  if redis.call('ZCARD', used) == 0 then redis.call('UNLINK', records) end
end

local changes = {}

function changes.add(id, record, most, budget)
  local size, room = cost(record), tonumber(budget) - cost(record)
  if room < 0 then return end
  if not whole() then redis.call('UNLINK', records, used, ends) end
  redis.call('HINCRBY', records, 'bytes', 0)  -- a full server refuses what is written first, and nothing after it
  sweep(4)
  drop(id)
  while redis.call('ZCARD', used) >= tonumber(most) or tonumber(get(records, 'bytes')) > room do
    local oldest = redis.call('ZRANGE', used, 0, 0)[1]
    if not oldest then redis.call('HSET', records, 'bytes', 0) break end
    drop(oldest)
  end
  local seconds = struct.unpack('<d', record, 3)
  redis.call('HSET', records, id, record)
  redis.call('HINCRBY', records, 'bytes', size)
  redis.call('ZADD', used, now, id)
  redis.call('ZADD', ends, seconds, id)
  for _, key in ipairs(KEYS) do lives_until(key, seconds) end
  each(sub(record, HEAD + 1), function(key, field, code, most)
    local entries = filtered(get(key, field) or '', 8 + #code, function(other) return other ~= id end)
    table.insert(entries, 1, id .. code)
    entries[most + 1] = nil
    set(key, field, entries)
    lives_until(key, seconds)
  end)
end

function changes.used(id)
  redis.call('ZADD', used, 'XX', now, id)
end

function changes.forget(id)
  drop(id)
  leave_if_empty()
end

function changes.tidy(marks)
  sweep(8)
  each(marks, function(key, field, code)
    local list = get(key, field)
    if list then
      set(key, field, filtered(list, 8 + #code, function(id) return ours(get(records, id)) end))
    end
  end)
  leave_if_empty()
end

changes[ARGV[3]](unpack(ARGV, 4))
return 1
""")
