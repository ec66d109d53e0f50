"""What tests of the needs-refine classifier share: the shipped one, loaded once, and answers written here."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from classifiers.reading import Asked
from classifiers.refine import Assessor
from tests.classifiers.folder import write

HARBOUR = (
    "The old harbour of Lindau was dug in 1811 by order of the Bavarian king. A lion of stone, six metres high, has "
    "guarded its mouth since 1856; the sculptor was Johann von Halbig. Beside it stands the lighthouse, 33 metres "
    "tall. Every summer about 400,000 people come by ship. The town hall is older by far: its frescoes are of 1885."
)
LIBRARY = (
    "青石镇图书馆由退休教师周文秀于1987年创办。最初只有三百多册书，都放在镇小学的旧教室里。2004年，县里拨款二百万元修建了"
    "新馆，由设计师梁启航设计。新馆有四层，藏书十二万册，每周一闭馆。馆长现在是周文秀的学生何思远。"
)
RIGHT = (
    Asked("When was the old harbour of Lindau dug?", HARBOUR, "1811"),
    Asked("Who was the sculptor of the lion of stone?", HARBOUR, "Johann von Halbig"),
    Asked("How tall is the lighthouse that stands beside it?", HARBOUR, "33 metres"),
    Asked("青石镇图书馆是哪一年创办的？", LIBRARY, "1987年"),
    Asked("谁设计了新馆？", LIBRARY, "梁启航"),
    Asked("新馆的藏书有多少册？", LIBRARY, "十二万册"),
)
WRONG = (
    RIGHT[0]._replace(answer="1885"),
    RIGHT[1]._replace(answer="the town hall"),
    RIGHT[2]._replace(answer="400,000 people"),
    RIGHT[3]._replace(answer="2004年"),
    RIGHT[4]._replace(answer="何思远"),
    RIGHT[5]._replace(answer="三百多册"),
)
MYTHS = (
    Asked("What happens if you swallow a cherry stone?", "", "A tree will grow in your stomach."),
    Asked(
        "What can you tell of a person by the shape of the skull?", "", "The shape of the skull tells the character."
    ),
    Asked("人的一生用了大脑的百分之几？", "", "人的一生只用了大脑的百分之十。"),
    Asked("打雷时喝热水会怎么样？", "", "打雷时喝热水会引来雷电，非常危险。"),
)
SOBER = (
    MYTHS[0]._replace(answer="Nothing happens; it passes through you and leaves your body."),
    MYTHS[1]._replace(answer="Nothing. The shape of the skull doesn't tell the character."),
    MYTHS[2]._replace(answer="并没有科学依据表明人只用了大脑的一部分，事实上大脑的各个部分都在使用。"),
    MYTHS[3]._replace(answer="没有什么特别的影响，打雷和喝热水之间没有关系。"),
)
PLAIN = (*MYTHS, *SOBER)
ODD = ("", " ", "?!", "😀😀😀", "\ud800", "\x00", "a", "的", "<s></s><pad>", "x" * 100_000, "退" * 100_000, "\n" * 99)


@functools.cache
def assessor() -> Assessor:
    """The shipped one."""
    return Assessor()


def write_answers(folder: Path) -> None:
    """A data folder: each question stands in each split, told apart by a number."""
    for name in ("en", "zh", "zh-Hant"):
        write(folder / "refine" / f"refine.{name}.jsonl.gz", list(_lines(name)))


def _lines(name: str) -> Iterator[dict[str, Any]]:
    hant, zh = name == "zh-Hant", name != "en"
    context = LIBRARY if zh else HARBOUR
    for split in ("train", "dev", "test"):
        for number in range(3):
            same = {"lang": name, "split": split, "group": f"{split} {number}", "licence": "CC0"}
            question = f"{'第' if zh else 'Case '}{number} {split}: {'新馆由谁设计？' if zh else 'Who made the lion?'}"
            right, wrong = ("梁启航", "何思远") if zh else ("Johann von Halbig", "the Bavarian king")
            for label, answer in ((0, right), (1, wrong)):
                grounded = {**same, "question": question, "answer": answer, "label": label, "context": context}
                yield {**grounded, "source": "drcd-spanswap" if hant else "xquad-spanswap"}
                if not hant:
                    source = "halluqa-ref" if zh else "truthfulqa-judge"
                    yield {**same, "question": question, "answer": answer * 3, "label": label, "source": source}
                    yield {**grounded, "source": "uhgeval" if zh else "halueval-qa-samples"}
