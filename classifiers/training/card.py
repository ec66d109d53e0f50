"""The model card, written anew with each training so that its figures are those of the files beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

CARD = """\
# The models of the context hash

Written by `make train-context`; the figures are of the files beside this one.

| file | what it is |
|---|---|
| `encoder.onnx` | a transformer of 2 layers x 128 over 64 tokens, stored in 8 bits: a text as 128 numbers or 64 bits |
| `tokenizer.json` | its vocabulary: Chinese and English pieces, in lower case, of the teacher's |
| `ngrams.ftz` | fastText, quantised: finance, e-commerce, education or general |
| `weights.npy` | how much each of 50,000 n-gram ids counts in the 64 bits of the n-grams |
| `manifest.json` | size and sha256 of each, what they were trained on, and the figures below in full |

## What they are for

To find, among kept drafts, those whose question is like the present one. A code is a good way to *find* candidates and
a poor way to *decide*: at 100,000 entries a false hit in 10,000 means ten wrong candidates a query. To load KV of a
candidate is safe, since the engine compares token ids. To serve an answer or a correction because codes are near is
not: compare the vectors above a calibrated threshold, and numbers, units, names and negations word by word.

## What they can't do

- The same words in another order (PAWS-X): nothing here tells them apart, as the rows below show.
- One value changed ("flights on the 3rd", "flights on the 4th"): near by design.
- More than the first 64 tokens, about 60 Chinese characters or 45 English words. Give them the question, not the
  whole history.
- Languages other than Chinese and English; Traditional Chinese only as far as the teacher saw it.
- The domain is learnt from word lists and a bank's questions, not from labelled traffic: a hint, not a judgement.
- In the sets below the questions of the test split are new, but their topics are not: training saw other questions of
  the same banks, assistants and hotels. On topics never seen expect the figures under *Topics never seen*.

## Figures

Test split; thresholds chosen on the dev split, so the false hits that came of them are in brackets. Some sets are small
(xsid has about 30 negatives a kind): read their figures with that in mind.

{table}

### Topics never seen

{unseen}

### How far to look

What lies within so many bits: of the like pairs of all test sets but PAWS-X, and of pairs of texts from sets that share
no topic.

{radii}

### Domains

To which domain the texts of the test sets were given; banking77 is finance, the rest is general but for the clinc150
intents that are about money.

{domains}

### Time

Milliseconds a text, one thread, one text at a time, on the machine where they were trained:

{times}

## How they were made

1. The teacher, {teacher}, reads the training texts; its space is centred and narrowed to 128 directions.
2. The student's word table is drawn from what the teacher says of each piece alone: it starts as a mean of words.
3. Distilled on texts and single pieces; then pairs of the same request are pulled together and others pushed apart, in
   128 numbers and in 64 signs at once (contrast within the batch, a ranking of like over unlike pairs, balanced bits),
   while general sentences keep the neighbours that the teacher gives them.
4. N-gram weights start from rarity and are learnt from the same pairs. fastText learns domains from the word lists.

Training took {seconds} seconds of CPU on one thread, judging not included, and about 160 more if the teacher's words
are not at hand from an earlier try (under `.run/`). Seed {seed}; to make them again:
`make train-context ARGS="--data DIR"`. Another kind of processor rounds otherwise: figures will be near, not the same.

## Data, licences, attribution

| texts | licence | rows |
|---|---|---:|
{sources}

The word lists under `classifiers/vocabulary/` were written for this project. Hash of the data: `{data}`.
Nothing of the dev and test splits was trained on, nor any text that stands in them.
"""

NOT_MEASURED = "Not measured in this training (`--unseen` was not asked for)."
UNSEEN = """\
The same training once more without {sets}, as if they did not exist; then judged on their test split. Thresholds are
still chosen on their dev split.

{table}"""


class Figures(NamedTuple):
    """What was measured: tables in Markdown, and milliseconds by method."""

    table: str
    radii: str
    domains: str
    times: Mapping[str, Mapping[str, float]]
    unseen: str = NOT_MEASURED


def write(figures: Figures, trained_on: Mapping[str, Any]) -> str:
    """The whole card."""
    took = ["| | p50 | p99 |", "|---|---:|---:|"]
    took += [f"| {name} | {told['p50']} | {told['p99']} |" for name, told in figures.times.items()]
    sources = [f"| {one['name']} | {one['licence']} | {one['rows']} |" for one in trained_on["sources"]]
    return CARD.format(
        table=figures.table, radii=figures.radii, unseen=figures.unseen, domains=figures.domains, times="\n".join(took),
        sources="\n".join(sources), teacher=trained_on["teacher"], seconds=trained_on["cpu_seconds"],
        seed=trained_on["seed"], data=trained_on["data_sha256"],
    )  # fmt: skip
