"""The source files for the architecture tests."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / name for name in ("libs", "services", "sandbox", "operations", "tools", "testkit", "lab", "tests")]
SERVICES = {
    path.name: path / "src" / path.name.replace("-", "_")
    for path in sorted((ROOT / "services").iterdir())
    if path.is_dir()
}
# The edge is a proxy, not a bounded context with doors and rooms: it keeps the rules of tidiness, not those of shape.
SHAPED = {name: package for name, package in SERVICES.items() if name != "api-gateway"}


def python_files(*folders: Path) -> list[Path]:
    found = (path for folder in folders for path in folder.rglob("*.py"))
    return sorted(path for path in found if ".venv" not in path.parts)


def product_files() -> list[Path]:
    """Everything that runs in production."""
    return python_files(ROOT / "libs/common/src", *SERVICES.values())


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, dotted; `from a import b` counts as `a` and as `a.b`."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def texts_of(path: Path) -> Iterator[str]:
    """Every string constant of a file that is not a docstring."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def inside(path: Path, package: Path) -> str:
    """`use_cases/settle_charge.py` → `use_cases`; `store.py` → `store`."""
    first = path.relative_to(package).parts[0]
    return first.removesuffix(".py")
