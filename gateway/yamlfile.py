"""YAML with line numbers: a file becomes a value of a given model, or a list of complaints that say where and what.

YAML 1.2's core words are used: `on`, `off`, `yes`, `no` are texts here, since word lists are full of them. A key that
stands twice is an error, not the last one's silent victory.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gateway.errors import Complaint, ConfigFault

Loc = tuple[int | str, ...]
M = TypeVar("M", bound=BaseModel)

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """The C loader, with YAML 1.2's idea of what is a number, a truth value or nothing."""

    yaml_implicit_resolvers: Mapping[str, list[tuple[str, re.Pattern[str]]]] = {}


for tag, pattern, first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{tag}", re.compile(pattern), [*first, *([""] if tag == "null" else [])]
    )


class Document:
    """One YAML file, read: its value, and the line on which each part of it stands."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[Loc, int] = {}
        loader = _Loader(_text(path))
        try:
            node = loader.get_single_node()
            self.value: Any = self._build(loader, node, ()) if node else {}
        except yaml.MarkedYAMLError as fault:
            mark = fault.problem_mark or fault.context_mark
            problem = " ".join(filter(None, (fault.context, fault.problem)))
            raise self._fault(
                mark.line + 1 if mark else None,
                "",
                f"not YAML: {problem}",
                "mend the line, or the one above it",
            ) from fault
        except yaml.YAMLError as fault:
            raise self._fault(None, "", f"not YAML: {fault}", "save the file as UTF-8 text") from fault
        except RecursionError as fault:
            raise self._fault(None, "", "nested without end", "look for an alias inside its own anchor") from fault
        finally:
            loader.dispose()

    def into(self, model: type[M]) -> M:
        """The value as `model`; ConfigFault tells everything that is wrong with it, with lines."""
        try:
            return model.model_validate(self.value, context={"folder": self.path.parent})
        except ValidationError as fault:
            errors = fault.errors(include_url=False)
            deepest = [e for e in errors if not any(_within(e["loc"], other["loc"]) for other in errors)]
            complaints = [self._complaint(error, model) for error in deepest]
            raise ConfigFault(complaints) from fault

    def complain(self, loc: Loc, problem: str, fix: str) -> Complaint:
        """A complaint about what stands at `loc`."""
        return Complaint(self.path, self._line(loc), ".".join(map(str, loc)), problem, fix)

    def _build(self, loader: Any, node: yaml.Node, loc: Loc) -> Any:
        self.lines.setdefault(loc, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(loader, node, loc)
        if isinstance(node, yaml.SequenceNode):
            return [self._build(loader, inner, (*loc, index)) for index, inner in enumerate(node.value)]
        return self._scalar(loader, node)

    def _scalar(self, loader: Any, node: yaml.Node) -> Any:
        try:
            return loader.construct_object(node, deep=True)
        except (ValueError, TypeError, AttributeError, LookupError) as fault:
            line = node.start_mark.line + 1
            raise self._fault(line, "", f"{node.tag} is not what stands there", "remove the tag `!!...`") from fault

    def _mapping(self, loader: Any, node: yaml.MappingNode, loc: Loc) -> dict[Any, Any]:
        built: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self._scalar(loader, key_node)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str | int) or key in built:
                raise self._fault(
                    line, str(key), "this key stands twice in its block, or is no name", "keep one of the two"
                )
            self.lines[(*loc, key)] = line
            built[key] = self._build(loader, value_node, (*loc, key))
        return built

    def _line(self, loc: Loc) -> int | None:
        known = next((loc[:n] for n in range(len(loc), -1, -1) if loc[:n] in self.lines), ())
        return self.lines.get(known)

    def _fault(self, line: int | None, field: str, problem: str, fix: str) -> ConfigFault:
        return ConfigFault([Complaint(self.path, line, field, problem, fix)])

    def _complaint(self, error: ErrorDetails, model: type[BaseModel]) -> Complaint:
        loc = self._written(error["loc"])
        return self.complain(loc, *_explained(error))

    def _written(self, loc: Loc) -> Loc:
        """The path as it stands in the file: pydantic adds steps of its own (the kind of a plug, `[key]`)."""
        real: Loc = ()
        value = self.value
        for step in loc:
            inside = (isinstance(value, dict) and step in value) or (
                isinstance(value, list) and isinstance(step, int) and step < len(value)
            )
            if inside:
                value = value[step]
                real = (*real, step)
            elif step == loc[-1] and isinstance(step, str) and isinstance(value, dict):
                real = (*real, step)
        return real


def dumped(value: Any) -> str:
    """Plain values as YAML."""
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as fault:
        raise ConfigFault([Complaint(path, None, "", "there is no such file", "create it, or name another")]) from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigFault([Complaint(path, None, "", f"can't be read: {fault}", "save it as UTF-8 text")]) from fault


def _explained(error: ErrorDetails) -> tuple[str, str]:
    """What is wrong, and how to mend it, in words for whoever wrote the file."""
    context = error.get("ctx", {})
    if error["type"] == "extra_forbidden":
        return (
            "there is no such field",
            "remove it, or look for a typing error; `retrace schema` lists the fields",
        )
    if error["type"] == "missing":
        return "this field is missing", "add it"
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tags = re.findall(r"'([^']+)'", str(context.get("expected_tags", "")))
        near = difflib.get_close_matches(str(context.get("tag", "")), tags, 1)
        hint = (
            f"did you mean `{near[0]}`?"
            if near
            else f"use one of: {', '.join(tags) or context.get('discriminator', 'type')}"
        )
        return f"unknown type {context.get('tag', '(none)')!r}", hint
    if error["type"] == "value_error":
        problem, _, fix = str(context["error"]).partition("; ")
        return problem, fix
    if error["type"] in ("enum", "literal_error"):
        return f"{error['msg']}, not {error['input']!r:.40}", ""
    return f"{error['msg']}, not {_named(error['input'])}", ""


def _within(outer: Loc, inner: Loc) -> bool:
    """Whether a complaint about `outer` only repeats one about something inside it."""
    return len(outer) < len(inner) and inner[: len(outer)] == outer


def _named(value: object) -> str:
    """What stands there, without its words: they may be a secret, and complaints stand in logs."""
    return str(value) if value is None or isinstance(value, bool | int | float) else f"a {type(value).__name__}"
