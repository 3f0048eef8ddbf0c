"""The functions of a scope that each test calls: a mutant is run with the tests that reach it, the fastest first.

As a pytest plugin (`-p lab.mutants.reach`) it fixes the examples of property tests. With `MUTANTS_REACH` it writes
there, as JSON by test, the seconds of the test and `path:function` of each function below `MUTANTS_ROOT` that it calls.
With `MUTANTS_CATCHER` it writes there the name of the test that fails.
"""

import ast
import json
import os
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import hypothesis
import pytest

from lab.mutants.mutants import ROOT, Mutant

# Beyond so many tests another one seldom detects what the others did not; the limit bounds the time of a survivor.
TESTS_MAX: Final = 50
# Quick tests are run up to this sum of their times, however many: the case of a table that detects a fault is one of
# many.
QUICK_SECONDS_MAX: Final = 5
_OUTPUT: Final = "MUTANTS_REACH"
_FOLDER: Final = "MUTANTS_ROOT"
_CATCHER: Final = "MUTANTS_CATCHER"
# A lost condition shows in the rows of others.
_STORY: Final = "assert_isolated"
_CACHES: Final = frozenset({"cache", "functools.cache"})
_WORD: Final = re.compile(r"\w+")


class _Recorder:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._seen: set[CodeType] = set()
        self.tests: dict[str, tuple[float, list[str]]] = {}

    def start(self) -> None:
        self._seen = set()
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def stop(self, test: str, seconds: float) -> None:
        sys.settrace(None)
        threading.settrace(None)
        reached = (code for code in self._seen.copy() if code.co_filename.startswith(self._folder))
        self.tests[test] = seconds, sorted({f"{c.co_filename.removeprefix(self._folder)}:{_name(c)}" for c in reached})

    def _trace(self, frame: FrameType, _event: str, _argument: Any) -> None:
        # Each call of a function comes here, and no line.
        self._seen.add(frame.f_code)


def _name(code: CodeType) -> str:
    parts = [part for part in code.co_qualname.replace("<locals>.", "").split(".") if not part.startswith("<")]
    return ".".join(parts)


_recorder = _Recorder(os.environ.get(_FOLDER, "")) if _OUTPUT in os.environ else None


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Every mutant meets the same examples. A failing one is not made smaller, which saves seconds."""
    without_shrinking = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutants", hypothesis.settings(), derandomize=True, database=None, phases=without_shrinking
    )
    hypothesis.settings.load_profile("mutants")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record the functions of a test, with those of its fixtures."""
    if _recorder is None:
        yield
        return
    started = time.monotonic()
    _recorder.start()
    yield
    _recorder.stop(item.nodeid, time.monotonic() - started)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write the name of a failed test."""
    if report.failed and _CATCHER in os.environ:
        Path(os.environ[_CATCHER]).write_text(report.nodeid, encoding="utf-8")


def pytest_sessionfinish() -> None:
    """Write the functions of each test."""
    if _recorder is not None:
        Path(os.environ[_OUTPUT]).write_text(json.dumps(_recorder.tests), encoding="utf-8")


class Reach:
    """The tests that reach each function of a scope."""

    def __init__(self, tests: Mapping[str, Sequence[Any]]) -> None:
        self._seconds = {test: float(seconds) for test, (seconds, _) in tests.items()}
        self._of: dict[str, set[str]] = defaultdict(set)
        for test, (_, functions) in tests.items():
            for function in functions:
                self._of[function].add(test)
        self._users: dict[str, dict[str, set[str]]] = {}

    def tests_of(self, mutant: Mutant, count: int = TESTS_MAX) -> list[str]:
        """The tests that reach a mutant: stories beside others, those of files that name its function, the fastest of
        all, and of each file; and all quick ones. Of each kind the fastest come first.
        """
        functions = self._functions(mutant)
        tests = set().union(*(self._of[function] for function in functions))
        by_time = sorted(tests, key=lambda test: (self._seconds[test], test))
        first_of_file = list({test.partition("::")[0]: test for test in reversed(by_time)}.values())
        times = accumulate(self._seconds[test] for test in by_time)
        quick = [test for test, seconds in zip(by_time, times, strict=True) if seconds <= QUICK_SECONDS_MAX]
        names = self._public_names(functions)
        words = {test: _words_of(test.partition("::")[0]) for test in by_time}
        stories = [test for test in by_time if _STORY in words[test]]
        naming = [test for test in by_time if names & words[test]][: count // 2]
        chosen = list(dict.fromkeys([*stories, *naming, *by_time[: count // 4], *first_of_file, *by_time]))[:count]
        # Tests of a file share their servers' queues and databases: file by file, the one with the fastest test first.
        files: dict[str, list[str]] = {}
        for test in sorted({*chosen, *quick}, key=lambda test: (self._seconds[test], test)):
            files.setdefault(test.partition("::")[0], []).append(test)
        return [test for tests_of_file in files.values() for test in tests_of_file]

    def _public_names(self, functions: set[str]) -> set[str]:
        """Return the names of the functions; of a private one those of its public readers, which tests name."""
        found: set[str] = set()
        pending, known = set(functions), set(functions)
        while pending:
            path, _, name = pending.pop().rpartition(":")
            name = name.rpartition(".")[2]
            if not name.startswith("_"):
                found.add(name)
                continue
            readers = self._readers(str(Path(path).parents[1]), name) - known
            pending |= readers
            known |= readers
        return found

    def _functions(self, mutant: Mutant) -> set[str]:
        own = f"{mutant.path}:{mutant.name}"
        assert mutant.path is not None
        folder = str(mutant.path.parents[1])
        if own not in self._of:
            # A module-level name or a class: the functions that read it, in the same package.
            return self._readers(folder, mutant.name)
        # A cached function is called by the first test alone, and its result reaches the tests of its readers.
        return {own} | (self._readers(folder, mutant.name) if own in _cached_functions(folder) else set())

    def _readers(self, folder: str, name: str) -> set[str]:
        users = self._users.setdefault(folder, _readers_of_names(folder))
        found: set[str] = set()
        pending, known = [name], {name}
        while pending:
            for reader in users.get(pending.pop(), ()):
                found.add(reader)
                _, _, other = reader.partition(":")
                if other not in known and "." not in other:
                    known.add(other)
                    # Another module-level name, or a cached function: its readers in turn.
                    if reader not in self._of or reader in _cached_functions(folder):
                        pending.append(other)
        return found & self._of.keys()


@cache
def _words_of(path: str) -> frozenset[str]:
    file = ROOT / path
    return frozenset(_WORD.findall(file.read_text(encoding="utf-8"))) if file.is_file() else frozenset()


def _readers_of_names(folder: str) -> dict[str, set[str]]:
    readers: dict[str, set[str]] = defaultdict(set)
    for path in (ROOT / folder).rglob("*.py"):
        relative = path.relative_to(ROOT)
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            for name, node in _definitions(statement):
                for inner in ast.walk(node):
                    match inner:
                        case ast.Name(id=read) | ast.Attribute(attr=read) if read != name:
                            readers[read].add(f"{relative}:{name}")
    return readers


@cache
def _cached_functions(folder: str) -> frozenset[str]:
    found = set[str]()
    for path in (ROOT / folder).rglob("*.py"):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.FunctionDef) and _CACHES & {
                ast.unparse(one) for one in statement.decorator_list
            }:
                found.add(f"{path.relative_to(ROOT)}:{statement.name}")
    return frozenset(found)


def _definitions(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    match statement:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            yield name, statement
        case ast.ClassDef(name):
            for member in statement.body:
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{name}.{member.name}", member
                else:
                    yield name, member
        case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
            yield name, statement
