"""A process that does to a pool all that can be done, until it is killed: python -m tests.kv.writer FOLDER SEED."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from gateway.kv.pool import Pool
from tests.kv.pools import OWNER, RECORD, TOKENS, block, record, small


def main(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    pool = Pool(small(folder, 24, disk=folder / "disk", disk_size=16 << 10, hold=1e6, ttl=1e6))
    pool.recover()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    names: list[str] = []
    while True:
        id = f"{seed}-{len(names)}"
        names.append(id)
        pool.begin(id, OWNER, TOKENS, RECORD)
        for index in range(chance.randint(0, 6)):
            pool.put(id, (block(id, index), record(id, index)))
        if chance.random() < 0.9:
            pool.finish(id, {"captured_tokens": TOKENS})
        known = [entry.id for entry in pool.entries(20)]
        if chance.random() < 0.7:
            pool.keep(known[0], "R203", priority=chance.randint(0, 1))
        pool.promote(chance.choice(known))
        if chance.random() < 0.3:
            pool.drop(chance.choice(known))
        pool.sweep()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
