"""The needs-refine classifier's model card, written anew with each training so that its figures are those of the files
beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from classifiers import phrases, reading, rows

CARD = """\
# The needs-refine classifier

Written by `make train-refine`; the figures are of the files beside this one.

| file | what it is |
|---|---|
| `reader.onnx` | {layers} transformer layers x 384 (as in DistilBERT) over at most {most} tokens, matrices in 8 bits |
| `tokenizer.json` | {pieces} Chinese and English pieces of the teacher's vocabulary, as they are |
| `phrases.npy` | a weight for each of {places} places of runs of words |
| `manifest.json` | size and sha256 of each, what they were trained on, thresholds, and the figures below in full |

## What it is for

To say which answers are worth a second look: question, answer and, where there is one, context in; a probability that
the answer needs refining out. Each language, with and without a context, has its own temperature and threshold, both
chosen on the dev split; the thresholds aim at no more than one right answer in ten being refined for nothing.

## What it cannot do

- **It is a risk detector, not a fact checker.** It has {parameters} million parameters and no knowledge to speak of.
  Without a context it has learnt how answers sound that people judged wrong (confident detail, agreement with a false
  premise, popular misconceptions), and how answers sound that were right (doubt, refusal, correction of the premise). A
  wrong year in a well-written sentence looks to it like a right one.
- How much of it is wording, the column *its phrases* shows: that part reads nothing, and counts runs of words.
- With a context it sees whether the answer stands where the context speaks of what was asked. Most of that is
  nearness of words, as the baseline *nearness* shows: an answer from the right sentence that answers another question
  is told from a right one much less well (*Harder swaps* below).
- Arithmetic, code, logic, the date of today: nothing.
- What it was not trained on: answers of models newer than those below, other domains, dialogue over several turns,
  languages other than Chinese and English. Traditional Chinese only with a context.
- It reads at most {question} tokens of a question and {answer} of an answer, about {answer_zh} Chinese characters: an
  error at the end of a long answer is not seen. Cut long answers and ask for each part.
- Its probabilities are of a mixture of the sources below, where about every second answer is wrong. Where fewer are,
  the true shares are lower: set thresholds on your own traffic (`retrace assess` and the review queue give the cases).
- Always saying *wrong* has a good F1 on such sources (in brackets below). Judge by precision and false triggers.

## Figures

Test split, whose questions were never trained on; answers to near-duplicate questions are all in one split. Sources
are never pooled: they differ in how many answers are wrong, and a pooled figure would mostly tell that. In brackets
beside the AUC: where it lies in 19 of 20 draws of questions. Small sources say little.

{table}

Where only length or style tells the label, nothing was trained, and the figures are no sign of anything:

{shortcuts}

### At the thresholds

Each language, with and without a context, over the sources it was trained for. *Recall at 10 %* is with the threshold
chosen on these very answers, the most that any threshold could give.

{modes}

### Harder swaps

Wrong answers of the same context that were made like the right one: a number for a number, a name for a name, of nearly
the same length; first from anywhere in the context, then only from the sentence of the right answer.

{harder}

### What more training gives

AUC on the dev split after each part of the training:

{curve}

### Time

One answer, one thread, cutting into tokens included, on the machine where it was trained. Others worked there at the
same time, so that on a quiet core the time is what the last column says it costs:

{times}

## How it was made

1. The first {layers} layers of {teacher}; its words are kept as
   they are and not trained, all else is. The last layer is asked for the first token alone.
2. Each token also carries what it is: question, answer, evidence, or evidence that the answer repeats. Evidence are the
   sentences of the context where the answer's words stand and most of the question's are around them.
3. {features} plain counts (numbers, words of doubt, nearness of answer and question in the context, ...) go to the head
   beside what was read.
4. Wrong and right answers to one question are learnt together, each by itself and the wrong above the right. Wrong
   parts of a context are drawn anew each round; some answers are put into a sentence, some contexts exchanged. The
   weights are the mean of those after the last two parts of training (Izmailov et al., 2018).
5. Beside the network, a linear model over runs of up to three words, trained in seconds on the same answers without a
   context. How much each counts is fitted on the dev split; with a context only the network counts.
6. Matrices in 8 bits, scaled by what flows through at each moment. One answer at a time, so that no answer's risk
   hangs on the others of a batch.

Training took {seconds} seconds of CPU on one thread, judging not included. Seed {seed}; to make it again:
`make train-refine ARGS="--data DIR"`. Another kind of processor rounds otherwise: figures will be near, not the same.

## Data, licences, attribution

| answers | licence | rows |
|---|---|---:|
{sources}

Words for the vocabulary also come from the texts of the context hash's training. Hash of the data: `{data}`.
"""


class Tables(NamedTuple):
    """What was measured, in Markdown."""

    table: str
    shortcuts: str
    harder: str
    modes: str
    times: str


def write(tables: Tables, trained_on: Mapping[str, Any]) -> str:
    """The whole card."""
    sources = [f"| {one['name']} | {one['licence']} | {one['rows']} |" for one in trained_on["sources"]]
    return CARD.format(
        **tables._asdict(), sources="\n".join(sources), teacher=trained_on["teacher"],
        seconds=trained_on["cpu_seconds"], seed=trained_on["seed"], data=trained_on["data_sha256"],
        layers=trained_on["layers"], pieces=trained_on["pieces"], most=rows.MOST, features=reading.FEATURES,
        parameters=round(trained_on["parameters"] / 1e6), question=rows.MOST_OF_QUESTION, answer=rows.MOST_OF_ANSWER,
        places=phrases.PLACES, answer_zh=rows.MOST_OF_ANSWER * 3 // 2,
        curve=_curve(trained_on["curve"], trained_on["dev"]),
    )  # fmt: skip


def _curve(parts: Sequence[Mapping[str, Any]], mean: Mapping[str, float]) -> str:
    names = list(parts[0]["auc"])
    rows = ["| CPU seconds | rounds without / with context |" + "".join(f" {name} |" for name in names)]
    rows.append("|---:|---:|" + "---:|" * len(names))
    seconds, plain, grounded = 0, 0.0, 0.0
    for part in parts:
        seconds, plain, grounded = seconds + part["cpu_seconds"], plain + part["plain"], grounded + part["grounded"]
        cells = "".join(f" {part['auc'][name]:.3f} |" for name in names)
        rows.append(f"| {seconds} | {plain:.1f} / {grounded:.1f} |{cells}")
    rows.append("| the mean of the last two | |" + "".join(f" {mean[name]:.3f} |" for name in names))
    return "\n".join(rows)
