"""What the scripts have in common that run inside the Redis server, in Lua: one finds, and one does all that changes.

The keys of a partition, all with its hash tag, so that they live on one node of a cluster:
- `...r` a hash: what is known of each capture, by its id of 8 bytes; and under `bytes` what it all takes, about
- `...u` a sorted set: the ids by their last use
- `...t` a sorted set: the ids by when they end
- `...0` to `...511` hashes: for `p` or `c` and a hash of the prefix or a chunk, the ids that share it, newest first
- `...b` and three digits (kinds of code, kind, place), hashes: for 16 bits of a code, ids and codes that have them

So many hashes share few keys because a key of its own for each would take five times the memory. What is displaced,
ended or forgotten is taken out of all of them at once; each key also ends by itself, with the last capture in it.

A record is `R1`, when it ends (a double), its marks, and the packed capture. Marks are how many hashes of the prefix,
hashes of chunks and codes there are, a byte each, and these themselves.
"""

from __future__ import annotations

from hashlib import sha1
from typing import NamedTuple

MAGIC = b"R1"
HEAD = 10  # bytes before the marks
CROWD = 8  # captures found in each of the three ways, and ids that share a hash
CROWD_OF_CODES = 32
ENTRY_COST, MARK_COST, CODE_COST = 400, 60, 400  # bytes that a capture, a hash and a code take beside the record


class Script(NamedTuple):
    """A script, and the name that the server knows it by once it has seen it."""

    text: str
    name: str


def script(body: str) -> Script:
    text = f"{_NUMBERS}{_COMMON}{body}"
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())


_NUMBERS = f"""
local HEAD, CROWD, CROWD_OF_CODES = {HEAD}, {CROWD}, {CROWD_OF_CODES}
local ENTRY_COST, MARK_COST, CODE_COST = {ENTRY_COST}, {MARK_COST}, {CODE_COST}
"""

_COMMON = """
local records, used, ends = KEYS[1], KEYS[2], KEYS[3]
local base, now = ARGV[1], tonumber(ARGV[2])
local byte, sub = string.byte, string.sub

local function bucket(hash)
  return base .. (byte(hash, 8) * 2 + math.floor(byte(hash, 7) / 128))
end

local function get(key, field)
  local value = redis.pcall('HGET', key, field)
  return type(value) == 'string' and value or nil
end

local function ours(record)
  return record and #record > HEAD + 3 and sub(record, 1, 2) == 'R1'
    and #record > HEAD + 3 + 8 * (byte(record, HEAD + 1) + byte(record, HEAD + 2) + byte(record, HEAD + 3))
end
"""
