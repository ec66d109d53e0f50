"""What finds, inside the Redis server: it reads alone, so it goes on where a server is full or a mere replica.

Arguments: base of the keys, now, marks (the longest prefix first), sizes of the chunks, mask of the codes (low and high
half), bands to look at, radius. Codes that differ in fewer bits than there are bands have one of them in common; with
a larger radius the bands' neighbours of one bit are looked at too, which finds all that differ in fewer than twice as
many bits (7 of 64) and some beyond. Answer: how many were met that are no more, and the packed captures.
"""

from __future__ import annotations

from gateway.stores._scripts import script

FIND = script("""
local marks, sizes, mask_low, mask_high = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local bands, radius = tonumber(ARGV[7]), tonumber(ARGV[8])
local prefixes, chunks, codes = byte(marks, 1, 3)
local known, stale, chosen, found = {}, 0, {}, {}

local function living(id)
  if known[id] == nil then
    local record = get(records, id)
    known[id] = ours(record) and struct.unpack('<d', record, 3) > now and record or false
    if not known[id] then stale = stale + 1 end
  end
  return known[id]
end

local function choose(id)
  local record = living(id)
  if record and not chosen[id] then
    chosen[id] = true
    local counts = byte(record, HEAD + 1) + byte(record, HEAD + 2) + byte(record, HEAD + 3)
    found[#found + 1] = sub(record, HEAD + 4 + 8 * counts)
  end
  return record
end

local function choose_best(order, before)
  table.sort(order, before)
  local count = 0
  for _, id in ipairs(order) do
    if choose(id) then
      count = count + 1
      if count == CROWD then return end
    end
  end
end

local function by_prefix()
  local seen, count = {}, 0
  for at = 4, 8 * prefixes, 8 do
    local hash = sub(marks, at, at + 7)
    local ids = get(bucket(hash), 'p' .. hash) or ''
    for i = 1, #ids - 7, 8 do
      local id = sub(ids, i, i + 7)
      if not seen[id] then
        seen[id] = true
        if choose(id) then
          count = count + 1
          if count == CROWD then return end
        end
      end
    end
  end
end

local function by_chunks()
  local shared, place, order = {}, {}, {}
  for number = 0, chunks - 1 do
    local at = 4 + 8 * (prefixes + number)
    local hash = sub(marks, at, at + 7)
    local ids = get(bucket(hash), 'c' .. hash) or ''
    local size = struct.unpack('<I4', sizes, 4 * number + 1)
    for i = 1, #ids - 7, 8 do
      local id = sub(ids, i, i + 7)
      if not shared[id] then
        order[#order + 1] = id
        shared[id], place[id] = 0, #order
      end
      shared[id] = shared[id] + size
    end
  end
  choose_best(order, function(a, b)
    return shared[a] > shared[b] or (shared[a] == shared[b] and place[a] < place[b])
  end)
end

local function distance(low, high)
  local count = 0
  while low ~= 0 do low, count = bit.band(low, low - 1), count + 1 end
  while high ~= 0 do high, count = bit.band(high, high - 1), count + 1 end
  return count
end

local function by_codes()
  local far, place, order = {}, {}, {}
  for number = 0, codes - 1 do
    local at = 4 + 8 * (prefixes + chunks + number)
    local low, high = struct.unpack('<I4I4', marks, at)
    local function look(key, value)
      local entries = get(key, value) or ''
      for i = 1, #entries - 15, 16 do
        local id, other_low, other_high = sub(entries, i, i + 7), struct.unpack('<I4I4', entries, i + 8)
        local low_differs, high_differs = bit.bxor(low, other_low), bit.bxor(high, other_high)
        local bits = distance(bit.band(low_differs, mask_low), bit.band(high_differs, mask_high))
        if bits <= radius and bits < (far[id] or 65) then
          if not far[id] then
            order[#order + 1] = id
            place[id] = #order
          end
          far[id] = bits
        end
      end
    end
    for band = 0, bands - 1 do
      local key, first, second = base .. 'b' .. codes .. number .. band, byte(marks, at + 2 * band, at + 2 * band + 1)
      look(key, string.char(first, second))
      if radius >= bands then
        for i = 0, 7 do
          look(key, string.char(bit.bxor(first, bit.lshift(1, i)), second))
          look(key, string.char(first, bit.bxor(second, bit.lshift(1, i))))
        end
      end
    end
  end
  choose_best(order, function(a, b)
    return far[a] < far[b] or (far[a] == far[b] and place[a] < place[b])
  end)
end

by_prefix()
by_chunks()
by_codes()
return {stale, found}
""")
