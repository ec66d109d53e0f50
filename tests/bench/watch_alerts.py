"""The alerts' own tests, by promtool: how many of the alerts do as their tests say.

    python -m tests.bench.watch_alerts

The last line is JSON; the exit status is 1 if one fails.
"""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from deploy.setup.prometheus import ensure
from tests.watch import plans


def _passes(file: str) -> bool:
    done = subprocess.run(
        [ensure().promtool, "test", "rules", file], cwd=plans.PROMETHEUS, capture_output=True, check=False
    )
    return done.returncode == 0


def measured() -> dict[str, Any]:
    """`alerts_passed` of `alerts`: those that are tested, by files that pass."""
    tested: dict[str, set[str]] = {}
    for path in plans.TEST_FILES:
        tested[str(path)] = set(re.findall(r'alertname="(\w+)"', path.read_text(encoding="utf-8")))
    good = set().union(*(names for file, names in tested.items() if _passes(file)))
    alerts = set(plans.alerts())
    return {
        "alerts": len(alerts),
        "alerts_passed": len(alerts & good),
        "alerts_failed": sorted(alerts - good),
        "bars": {"alerts": alerts <= good},
    }


def main() -> None:
    told = measured()
    print(json.dumps(told))
    raise SystemExit(0 if all(told["bars"].values()) else 1)


if __name__ == "__main__":
    main()
