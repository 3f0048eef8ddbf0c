"""The source files for the architecture tests."""

import ast
import gc
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = [
    ROOT / name for name in ("libs", "services", "console", "sandbox", "operations", "tools", "testkit", "lab", "tests")
]
SERVICES = {
    path.name: path / "src" / path.name.replace("-", "_")
    for path in sorted((ROOT / "services").iterdir())
    if path.is_dir()
}
# The edge is a proxy and no bounded context: the rules of style apply to it, those of structure do not.
SHAPED = {name: package for name, package in SERVICES.items() if name != "api-gateway"}
# A service of several bounded contexts has a folder for each, with the rooms of a service.
CONTEXTS = {
    name: [folder for folder in sorted(package.iterdir()) if (folder / "use_cases").is_dir()]
    for name, package in SHAPED.items()
}


@cache
def python_files(*folders: Path) -> tuple[Path, ...]:
    found = (path for folder in folders for path in folder.rglob("*.py"))
    return tuple(sorted(path for path in found if ".venv" not in path.parts))


def product_files() -> tuple[Path, ...]:
    """Everything that runs in production."""
    return python_files(ROOT / "libs/common/src", *SERVICES.values())


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file. Many rules look at them all, and to walk a tree costs more than to parse it.

    They are no garbage before the end, and the collector does not look at them.
    """
    nodes = tuple(ast.walk(tree_of(path)))
    gc.freeze()
    return nodes


def dotted(node: ast.expr) -> str:
    """Return a name such as `datetime.now`. `ast.unparse` returns it too, and costs a hundred times as much."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ast.unparse(node)


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, dotted; `from a import b` counts as `a` and as `a.b`."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def texts_of(path: Path) -> Iterator[str]:
    """Every string constant of a file that is not a docstring."""
    docstrings = {
        id(node.body[0].value)
        for node in nodes_of(path)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def inside(path: Path, package: Path) -> str:
    """`use_cases/settle_charge.py` → `use_cases`; `store.py` and `support/store.py` → `store`."""
    parts = path.relative_to(package).parts
    is_in_context = package / parts[0] in CONTEXTS.get(package.name, ())
    return parts[is_in_context].removesuffix(".py")


def module_of(path: Path) -> str:
    """`services/orders/src/orders/store/pins.py` → `orders.store.pins`."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).rpartition("src.")[2].removesuffix(".__init__")


def for_each(paths: Iterable[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """One test that checks a rule on each file, and names all files that break it. A test for each file and rule costs
    a minute of every run.
    """

    def decorate(rule: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            broken = []
            for path in paths:
                try:
                    rule(path)
                except AssertionError as error:
                    broken.append(f"{path.relative_to(ROOT)}: {error}")
            assert not broken, "\n".join(broken)

        test.__name__, test.__doc__, test.__module__ = rule.__name__, rule.__doc__, rule.__module__
        return test

    return decorate
