"""Every extension member of a problem document is declared once, and is in OpenAPI."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from api_gateway.problem_pages import EXPLAINED
from campus_tools.documents.error_responses import PROBLEM_SCHEMA
from campus_tools.documents.files import PAGES
from common.primitives.problems import EXTENSIONS, Problem, ProblemExtensions, render
from tests.architecture.sources import ROOT, imports_of, nodes_of, product_files

STANDARD = {"type", "title", "status", "detail", "instance", "code", "invalid_params"}


def names_of(value: ast.expr, where: str) -> Iterator[str]:
    """Yield the members of an expression; `extensions` itself is checked where it is assigned."""
    match value:
        case ast.Dict(keys=keys):
            for key in keys:
                assert isinstance(key, ast.Constant), f"{where}: name the members of a problem as literals"
                yield str(key.value)
        case ast.IfExp(body=body, orelse=other):
            yield from names_of(body, where)
            yield from names_of(other, where)
        case ast.Constant(value=None) | ast.Name(id="extensions"):
            pass
        case _:
            raise AssertionError(
                f"{where}: write the members of a problem as a dictionary, so that this test sees them"
            )


def extensions_of(path: Path) -> Iterator[tuple[str, str]]:
    """Each extension that a file gives to a problem, and where."""
    if path.name == "problems.py" or not any(
        name.startswith("common.primitives.problems") for name in imports_of(path)
    ):
        return
    for node in nodes_of(path):
        where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        match node:
            case ast.keyword(arg="extensions", value=value):
                yield from ((name, where) for name in names_of(value, where))
            case ast.AnnAssign(target=ast.Name(id="extensions"), value=ast.expr() as value):
                yield from ((name, where) for name in names_of(value, where))
            case ast.Assign(targets=[ast.Name(id="extensions")], value=value):
                yield from ((name, where) for name in names_of(value, where))
            case ast.Subscript(value=ast.Attribute(attr="extensions"), slice=ast.Constant(value=name)):
                yield str(name), where
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="extensions")), keywords=_):
                raise AssertionError(f"{where}: give the members of a problem at its making")


def test_every_extension_in_use_is_declared() -> None:
    used = [found for path in product_files() for found in extensions_of(path)]
    assert {name for name, _ in used} >= {"totalMinor", "attemptsRemaining", "userId"}
    assert [f"{where}: {name}" for name, where in used if name not in EXTENSIONS] == []


def test_every_declared_extension_is_used() -> None:
    used = {name for path in product_files() for name, _ in extensions_of(path)}
    # confirmationRequired: the contract's section 10.1.
    assert set(ProblemExtensions.__annotations__) - used <= {"confirmationRequired", "error"}


def test_the_declarations_agree() -> None:
    assert set(EXTENSIONS) == {*ProblemExtensions.__annotations__, "requestId", "correlationId"}
    for schema in (PROBLEM_SCHEMA, shown_schema()):
        assert set(schema["properties"]) == STANDARD | set(EXTENSIONS)


def test_a_rendered_problem_has_declared_members_only() -> None:
    whole = ProblemExtensions(totalMinor=1, attemptsRemaining=2, confirmationRequired=True)
    document = json.loads(render(Problem(extensions=whole), instance="/", request_id="req_1", base_url="http://x"))
    assert set(document) <= STANDARD | set(EXTENSIONS)
    assert {"totalMinor", "attemptsRemaining", "confirmationRequired", "requestId", "correlationId"} <= set(document)


def test_the_pages_of_the_codes_explain_declared_members_only() -> None:
    assert {name for given in EXPLAINED.values() for name in given.more} <= set(EXTENSIONS)


def shown_schema() -> dict:
    return json.loads((ROOT / PAGES / "openapi.json").read_text())["components"]["schemas"]["Problem"]
