"""A module of the library has more than one user."""

from tests.architecture.sources import ROOT, imports_of, module_of, python_files

COMMON = ROOT / "libs/common/src/common"
EVERYWHERE = python_files(
    *(ROOT / name for name in ("libs", "services", "console", "tools", "operations", "testkit", "lab", "tests"))
)


def test_no_module_of_the_library_has_one_service_as_its_only_user() -> None:
    """Such a module belongs to that service."""
    users: dict[str, set[tuple[str, ...]]] = {}
    for path in EVERYWHERE:
        folder, *inner = path.relative_to(ROOT).parts
        if "src" in inner:
            for name in imports_of(path):
                users.setdefault(name, set()).add((folder, *inner[:1]) if folder == "services" else (folder,))
    modules = {module_of(path) for path in python_files(COMMON) if path.stem != "__init__"}
    alone = {name: found for name, found in users.items() if name in modules and len(found) == 1}
    assert {name: found for name, found in alone.items() if found != {("libs",)}} == {}
