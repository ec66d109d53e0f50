"""Whether there is room where files are written, and whether a synced write takes long."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.symptoms import Facts, Folder, Light, Said, Sign, Symptom, green, grey

LITTLE, SCARCE = 0.10, 0.03  # share of a disk that is free
SLOW = 50.0  # milliseconds for a few bytes that are synced

_WRITE = Said("let the user that runs it write there", "让运行它的用户可以写入")
_ROOM = Said("make room, or keep fewer files", "清理空间，或减少保留的文件")
_FSYNC = Said(
    "use a local disk, or sync the audit log in batches (`fsync: batch`)",
    "使用本地磁盘，或让审计日志批量落盘（`fsync: batch`）",
)


class Plug(Symptom):
    """Each folder that the configuration or the environment names."""

    title = Said("disks", "磁盘")
    order = 110

    def look(self, facts: Facts) -> Iterator[Sign]:
        if not facts.folders:
            yield grey("disks", "no folder is named", "没有指定目录")
        for folder in facts.folders:
            yield _seen(folder)


def _seen(folder: Folder) -> Sign:
    about = f"{folder.use} {folder.path}"
    if folder.why:
        return Sign(Light.RED, about, Said(f"can't be written to: {folder.why}", f"无法写入：{folder.why}"), _WRITE)
    share = folder.free / folder.total if folder.total else 0.0
    room = f"{folder.free / (1 << 30):.1f} GiB ({share:.0%})"
    if share < LITTLE:
        light = Light.RED if share < SCARCE else Light.YELLOW
        return Sign(light, about, Said(f"only {room} free", f"仅剩 {room}"), _ROOM)
    if folder.fsync is not None and folder.fsync > SLOW and not folder.memory:
        took = f"{folder.fsync:.0f} ms"
        return Sign(Light.YELLOW, about, Said(f"a synced write takes {took}", f"一次落盘写入需 {took}"), _FSYNC)
    took = "" if folder.fsync is None else f", fsync {folder.fsync:.1f} ms"
    return green(about, f"{room} free{took}", f"剩余 {room}{took}")
