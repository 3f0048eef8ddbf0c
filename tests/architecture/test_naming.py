"""One dialect: the names of the table in CONTRIBUTING.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from campus_tools.endpoints import endpoints
from testkit.cases import for_each
from tests.architecture.sources import FOLDERS, ROOT, nodes_of, product_files, python_files

Function = ast.FunctionDef | ast.AsyncFunctionDef
PRODUCT = product_files()
ENDPOINTS = {(endpoint.method, endpoint.path): endpoint for endpoint in endpoints()}.values()
# Operation ids that write two words as one.
SPELLED = {"login": "log_in", "logout": "log_out", "logoutAll": "log_out_everywhere", "checkout": "check_out"}
# What a path names otherwise than by an id.
OTHER_PARAMETERS = {"month", "name", "provider"}
LOOP_VERBS = {
    *("alert", "check", "claim", "close", "compare", "encrypt", "fire", "forward", "issue", "link", "load", "measure"),
    *("move", "observe", "publish", "purge", "query", "recheck", "reconcile", "refresh", "remove", "repeat", "request"),
    *("resolve", "revoke", "send", "settle", "submit", "sweep", "update", "verify", "escalate"),
}
REFUSED_OPENINGS = ("Of", "What", "Nothing", "Whether", "Whoever")
# Openings that describe what is returned, or who calls, in place of what the operation does.
DESCRIPTIVE_OPENINGS = {"", "A", "All", "An", "At", "For", "One", "The"}
# Names of the present instant that are not `now`.
OTHER_NOWS = {"moment", "present", "current_time", "today_at"}


def functions_of(path: Path) -> Iterator[Function]:
    return (node for node in nodes_of(path) if isinstance(node, Function))


@for_each("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_a_handler_has_the_verb_of_its_operation(endpoint) -> None:
    handler, operation = endpoint.route.endpoint.__name__, endpoint.route.operation_id
    assert not handler.endswith("_route")
    if operation is not None:
        action = operation.rpartition(".")[2]
        verb = re.match("[a-z]+", action)[0]
        assert f"{handler}_".startswith(f"{SPELLED.get(action, verb)}_")
    for parameter in re.findall(r"{(\w+)}", endpoint.path):
        assert parameter.endswith("_id") or parameter in OTHER_PARAMETERS


def test_an_operation_is_described_in_the_imperative() -> None:
    openings = {
        endpoint.name: (endpoint.route.endpoint.__doc__ or "").partition(" ")[0]
        for endpoint in ENDPOINTS
        if not endpoint.path.startswith("/internal/")
    }
    assert openings
    assert {
        name: opening
        for name, opening in openings.items()
        if opening in DESCRIPTIVE_OPENINGS or re.fullmatch("[A-Z][a-z]*[^s]s", opening)
    } == {}


def test_a_loop_has_a_kebab_name_with_the_verb_first() -> None:
    names = [
        ast.literal_eval(node.args[0])
        for path in PRODUCT
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Loop"
    ]
    assert len(names) > 30
    assert [name for name in names if not re.fullmatch(r"[a-z]+(-[a-z]+)+", name)] == []
    assert {name.partition("-")[0] for name in names} <= LOOP_VERBS


def test_a_function_that_derives_an_id_ends_in_id() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in PRODUCT
        if path.parent.name == "domain"
        for node in functions_of(path)
        if node.returns and ast.unparse(node.returns) == "UUID"
        if not re.search("^_|^check_|(^|_)id(_of)?$", node.name)
    ]
    assert found == []


def test_the_present_instant_is_called_now() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in PRODUCT
        for node in functions_of(path)
        for argument in (*node.args.args, *node.args.kwonlyargs)
        if argument.arg in OTHER_NOWS
    ]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_docstring_opens_with_a_noun_or_a_verb(folder: Path) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
        for path in python_files(folder)
        for node in nodes_of(path)
        if isinstance(node, ast.Module | ast.ClassDef | Function)
        and (text := ast.get_docstring(node, clean=False))
        and text.split()[0] in REFUSED_OPENINGS
    ]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_test_name_has_at_most_eighty_characters(folder: Path) -> None:
    names = {
        node.name
        for path in python_files(folder)
        if path.stem.startswith("test_")
        for node in functions_of(path)
        if node.name.startswith("test_")
    }
    assert names
    assert [name for name in names if len(name) > 80] == []
