"""No circular imports: the modules of a package can be read in one order. Tests import names that exist."""

import ast
import importlib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, tree_of

SOURCES = [
    *sorted((ROOT / "services").glob("*/src")),
    ROOT / "libs/common/src",
    ROOT / "console/src",
    ROOT / "sandbox/src",
]
KNOWN_CIRCLES: set[frozenset[str]] = set()


def named(path: Path, source: Path) -> str:
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


@cache
def modules() -> dict[str, Path]:
    return {named(path, source): path for source in SOURCES for path in source.rglob("*.py")}


def imported_by(name: str) -> set[str]:
    """Return the modules of ours that a module imports, for type checking or within a function too."""
    found = set()
    for node in ast.walk(tree_of(modules()[name])):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{name} has a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & modules().keys()) or {node.module}
    return (found & modules().keys()) - {name}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: str(source.relative_to(ROOT)))
def test_no_modules_have_circular_imports(source) -> None:
    graph = {named(path, source): imported_by(named(path, source)) for path in source.rglob("*.py")}
    for circle in KNOWN_CIRCLES:
        for name in circle & graph.keys():
            graph[name] -= circle
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


@pytest.mark.parametrize("folder", ["console", "end_to_end", "guides", "resilience", "storefront"])
def test_tests_of_the_whole_system_import_names_that_exist(folder) -> None:
    """These tests are collected last, and the type checker does not read them."""
    found = {
        (node.module, alias.name)
        for path in (ROOT / "tests" / folder).rglob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and node.module and not (node.level or node.module.startswith("tests."))
        for alias in node.names
    }
    missing = []
    for module, name in sorted(found):
        if not hasattr(importlib.import_module(module), name):
            try:
                importlib.import_module(f"{module}.{name}")
            except ImportError:
                missing.append(f"{module}.{name}")
    assert found, "no test imports anything"
    assert not missing
