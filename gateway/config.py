"""gateway.yaml and what it names become a House: everything an exchange needs, built and probed before it is used."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from gateway.checks import Check
from gateway.errors import Complaint, ConfigFault
from gateway.judge import Judge, OnBroken
from gateway.keys import Keyring, TiersFile
from gateway.mainfile import GatewayFile, Listen
from gateway.overlay import EMPTY, Overlay
from gateway.refine.file import RefineFile
from gateway.rules import BROKEN, Inject, Place, ReasonFile, Rule, RuleFile
from gateway.terms import Retracing, Terms, TunedFile
from gateway.types import Exchange, Reason, Side, View
from gateway.watch import register
from gateway.watch.file import WatchFile
from gateway.watch.prints import carried
from gateway.watch.versions import UNKNOWN, PolicyFile, Standing, Wanted
from gateway.window import Window
from gateway.yamlfile import Document, Loc

PROBE = "A sample text to try every rule on, with 123 numbers. 一段用来试规则的文字。"


@dataclass(frozen=True, slots=True)
class House:
    """A configuration that works: every part valid, every rule tried."""

    file: GatewayFile
    rules: Mapping[str, Rule]
    reasons: Mapping[str, Reason]
    judge: Judge
    keys: Keyring
    terms: Terms
    refine: RefineFile | None
    revision: str
    folder: Path
    watched: frozenset[Path]
    watch: WatchFile | None = None
    standing: Standing = UNKNOWN  # which policies of reuse are in force, by what was confirmed and tried
    hand: Overlay = EMPTY  # what the file says the controller holds in force; who follows it puts it above the terms
    written: frozenset[Path] = frozenset()  # files and folders that the gateway fills and never reads as configuration

    def of(self, exchange: Exchange) -> House:
        """As one exchange finds it: with the policies that its session gets."""
        terms = self.terms.of(exchange)
        return self if terms is self.terms else replace(self, terms=terms)


class Source(NamedTuple):
    """Where a configuration comes from: the main file, and what the command line says instead of it."""

    path: Path
    host: str | None = None
    backend: str | None = None


def build(source: Source, on_broken: OnBroken = lambda _rule: None, known: PolicyFile | None = None) -> House:
    """Read, check and try everything that the file names. ConfigFault tells all that is wrong. `known`: what this
    process knows of policies."""
    try:
        return _Builder(source, known).house(on_broken)
    except (OSError, ValueError, LookupError, TypeError, MemoryError, RecursionError) as fault:
        raise ConfigFault([Complaint(source.path, None, "", f"can't be built: {fault!r}")]) from fault


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of each kind of YAML file, for editors."""
    files: dict[str, type[BaseModel]] = {
        "gateway": GatewayFile,
        "rules": RuleFile,
        "reasons": ReasonFile,
        "tiers": TiersFile,
        "refine": RefineFile,
        "watch": WatchFile,
    }
    return {name: model.model_json_schema() for name, model in files.items()}


class _Builder:
    def __init__(self, source: Source, known: PolicyFile | None) -> None:
        self._source, self._known = source, known
        self._path = source.path
        self._folder = source.path.parent
        self._complaints: list[Complaint] = []
        self._sum = hashlib.sha256()
        self._watched: set[Path] = set()

    def house(self, on_broken: OnBroken) -> House:
        main = self._main()
        reasons = self._read(self._folder / main.reasons)
        codes = reasons.into(ReasonFile)
        table = codes.table
        if BROKEN not in table:
            self._complaints.append(
                reasons.complain(
                    ("reasons",), f"{BROKEN} is missing", "it names the case of a broken check; restore it"
                )
            )
        rules = tuple(self._rules(main.rules, table))
        tiers = self._read(self._folder / main.tiers).into(TiersFile) if main.tiers else TiersFile()
        keys = Keyring(tiers.keys)
        refine = self._refine(main)
        watch = self._read(self._folder / main.watch).into(WatchFile) if main.watch else None
        self._check_listen(main.listen, keys)
        if self._complaints:
            raise ConfigFault(self._complaints)
        judge = self._probed(rules, on_broken)
        tuned = self._tuned(main.retrace)
        terms = main.retrace.terms(codes.policies, tuned.lookup)
        standing = self._standing(main, rules, terms.policies, watch)
        return House(
            main,
            {rule.id: rule for rule in rules},
            table,
            judge,
            keys,
            standing.over(terms),
            refine,
            self._sum.hexdigest()[:12],
            self._folder,
            frozenset(self._watched),
            watch,
            standing,
            tuned.hand,
            frozenset(path.parent.resolve() / path.name for path in self._written(main, refine)),
        )

    def _main(self) -> GatewayFile:
        """The main file, with the command line's word above it."""
        document = self._read(self._path)
        if self._source.backend and isinstance(document.value, dict):
            # A vLLM or any other endpoint: this path says how it is at both, and who has the plugin says so.
            backend = {"name": "backend", "type": "vllm", "health_path": "/v1/models", "urls": [self._source.backend]}
            document.value["backends"] = [backend]
        if self._source.host and isinstance(document.value, dict):
            document.value["listen"] = {**(document.value.get("listen") or {}), "host": self._source.host}
        return document.into(GatewayFile)

    def _written(self, main: GatewayFile, refine: RefineFile | None) -> Iterator[Path]:
        if main.audit is not None:
            yield self._folder / main.audit.folder
        if main.retrace.sample is not None:
            yield self._folder / main.retrace.sample.file
        if refine is not None and refine.queue is not None:
            yield from refine.queue.files(self._folder)

    def _tuned(self, retracing: Retracing) -> TunedFile:
        path = self._folder / retracing.tuned
        return self._read(path).into(TunedFile) if path.exists() else TunedFile()

    def _standing(
        self, main: GatewayFile, rules: Iterable[Rule], policies: Mapping[str, Inject], watch: WatchFile | None
    ) -> Standing:
        """Which policies are in force. The revision tells what comes of the state file, not what it looks like."""
        path, share = self._folder / main.retrace.policies, watch.trials.share if watch else None
        wanted = Wanted(policies, carried(rules, policies), share)
        standing = register.standing(path, wanted, self._known, datetime.now(UTC))
        if path.exists():
            self._watched.add(path.resolve())
        self._sum.update(standing.digest)
        return standing

    def _refine(self, main: GatewayFile) -> RefineFile | None:
        if main.refine is None:
            return None
        document = self._read(self._folder / main.refine)
        refine = document.into(RefineFile)
        known = [backend.name for backend in main.backends]
        if refine.backend not in (None, *known):
            fix = f"use one of: {', '.join(known)}"
            self._complaints.append(document.complain(("backend",), f"there is no backend {refine.backend}", fix))
        return refine

    def _read(self, path: Path) -> Document:
        document = Document(path)
        if (
            not document.lines
        ):  # as an interrupted save leaves it: to take it for "no rules" or "no keys" would open the house
            raise ConfigFault([document.complain((), "the file is empty", "write `{}` into it if nothing is meant")])
        self._note(path)
        return document

    def _note(self, path: Path) -> None:
        self._watched.add(path.resolve())
        try:
            self._sum.update(path.read_bytes())
        except OSError as fault:  # it was there a moment ago
            raise ConfigFault([Complaint(path, None, "", f"can't be read: {fault}", "save it again")]) from fault

    def _rules(self, patterns: Iterable[str], reasons: Mapping[str, Reason]) -> Iterator[Rule]:
        seen: dict[str, Path] = {}
        for path in self._files(patterns):
            try:
                document = self._read(path)
                rules = document.into(RuleFile).rules
            except ConfigFault as fault:
                self._complaints += fault.complaints
                continue
            for index, rule in enumerate(rules):
                self._check_rule(document, ("rules", index), rule, reasons, seen)
                yield rule

    def _files(self, patterns: Iterable[str]) -> Iterator[Path]:
        for pattern in patterns:
            found = self._fitting(pattern)
            if not found:
                fix = "create it, or correct the name; it is relative to this file"
                self._complaints.append(Complaint(self._path, None, "rules", f"no file fits {pattern!r}", fix))
            yield from found

    def _fitting(self, pattern: str) -> list[Path]:
        try:
            return sorted(path for path in self._folder.glob(pattern) if path.is_file())
        except (ValueError, NotImplementedError, IndexError, OSError):  # empty, from the root, or no pattern at all
            return []

    def _check_rule(
        self, document: Document, loc: Loc, rule: Rule, reasons: Mapping[str, Reason], seen: dict[str, Path]
    ) -> None:
        if rule.reason not in reasons:
            fix = f"define it in reasons.yaml, or use one of: {', '.join(sorted(reasons))}"
            self._complaints.append(document.complain((*loc, "reason"), f"{rule.reason} is not defined", fix))
        if rule.id in seen:
            self._complaints.append(
                document.complain((*loc, "id"), f"{rule.id} stands in {seen[rule.id]} too", "give it another id")
            )
        seen[rule.id] = document.path
        file = getattr(rule.check, "file", None)
        if file is not None:
            self._note(document.path.parent / file)

    def _check_listen(self, listen: Listen, keys: Keyring) -> None:
        if not keys and listen.host not in ("127.0.0.1", "::1", "localhost"):
            problem = f"{listen.host} can be reached from other machines, and there is no API key"
            fix = "make one with `retrace key`, put its hash into tiers.yaml and name that file under `tiers`"
            self._complaints.append(Complaint(self._path, None, "listen.host", problem, fix))

    def _probed(self, rules: tuple[Rule, ...], on_broken: OnBroken) -> Judge:
        """The judge, after each rule has judged a sample: what can only fail at work fails here."""
        try:
            judge = Judge(rules, on_broken)
            for rule in rules:
                if isinstance(rule.check, Check):  # probes are not asked: their services may be down for now
                    rule.check.look(View(PROBE))
        except (ValueError, MemoryError) as fault:
            raise ConfigFault([Complaint(self._path, None, "rules", str(fault))]) from fault
        for side in Side:
            Window(judge.lanes(Place(side, "chat", "", "", "", ""))).feed(PROBE, final=True)
        return judge
