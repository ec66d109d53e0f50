"""Polarity: two hundred pairs of words that turn a question round, each side one token.

The ends of such a pair look alike to a similarity search: they stand in the same sentences.
"""

from __future__ import annotations

from gateway.gates import _poles_en, _poles_zh
from gateway.gates._rows import Table, table

TABLE: Table = {**table("polarity", _poles_en.PAIRS), **table("polarity", _poles_zh.PAIRS)}
