"""What each shipped rule must find, and what it must leave alone: a table for each kind."""

from __future__ import annotations

from tests.house.rows import ecommerce, education, finance, injection, input, output
from tests.house.rows.row import Row

ROWS: list[Row] = [*injection.ROWS, *input.ROWS, *output.ROWS, *finance.ROWS, *ecommerce.ROWS, *education.ROWS]
