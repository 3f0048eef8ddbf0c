"""The public face of a package of common: the modules that others import."""

import ast
from functools import cache

import pytest

from tests.architecture.sources import ROOT, imports_of, module_of, python_files, tree_of

COMMON = ROOT / "libs/common/src/common"
PACKAGES = [folder.name for folder in sorted(COMMON.iterdir()) if (folder / "__init__.py").exists()]
EVERYWHERE = python_files(
    *(ROOT / name for name in ("libs", "services", "console", "tools", "operations", "testkit", "lab", "tests"))
)


@cache
def imports_everywhere():
    return {path: {name for name in imports_of(path) if name.startswith("common.")} for path in EVERYWHERE}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_lists_exactly_the_modules_that_others_import(package) -> None:
    folder = COMMON / package
    [listed] = [
        ast.literal_eval(node.value)
        for node in tree_of(folder / "__init__.py").body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    imported = {
        name.split(".")[2]
        for path, names in imports_everywhere().items()
        if folder not in path.parents
        for name in names
        if name.startswith(f"common.{package}.")
    }
    assert listed == sorted(imported & {path.stem for path in folder.glob("*.py")})


def test_no_module_of_the_library_has_one_service_as_its_only_user() -> None:
    """Such a module belongs to that service."""
    users: dict[str, set[tuple[str, ...]]] = {}
    for path, names in imports_everywhere().items():
        folder, *inner = path.relative_to(ROOT).parts
        if "src" in inner:
            for name in names:
                users.setdefault(name, set()).add((folder, *inner[:1]) if folder == "services" else (folder,))
    modules = {module_of(path) for path in python_files(COMMON) if path.stem != "__init__"}
    alone = {name: found for name, found in users.items() if name in modules and len(found) == 1}
    assert {name: found for name, found in alone.items() if found != {("libs",)}} == {}
