"""Whether the configuration can be served."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Light, Said, Sign, Symptom, green

_MEND = Said("mend the line; `retrace check` tries it", "改正该行；用 `retrace check` 验证")


class Plug(Symptom):
    """The files as `retrace check` reads them."""

    title = Said("configuration", "配置")
    order = 10

    def look(self, facts: Facts) -> Iterator[Sign]:
        told = facts.configuration
        for wrong in told.wrong:
            yield Sign(Light.RED, told.path, Said(wrong, wrong), _MEND)
        if not told.wrong:
            yield green(
                told.path,
                f"builds: {told.rules} rules, revision {told.revision}",
                f"可以构建：{told.rules} 条规则，版本 {told.revision}",
            )
