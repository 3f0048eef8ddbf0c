"""A distribution declares its imports, and an installation of one service does not contain the others."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement

from campus_tools.supply.bill import IMAGES
from campus_tools.supply.lock import part_for, requirements_in
from tests.architecture.sources import ROOT, SERVICES, imports_of, module_of, python_files

DISTRIBUTIONS = {
    **{f"services/{name}": name.replace("-", "_") for name in SERVICES},
    "libs/common": "common",
    "console": "console",
    "sandbox": "sandbox",
    "operations": "operations",
    "tools": "campus_tools",
    "testkit": "testkit",
    "lab": "lab",
}

PROBE = """
import importlib.util, json, sys
print(json.dumps({name: importlib.util.find_spec(name) is not None for name in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for source in [ROOT / "libs/common", *(ROOT / "services" / name for name in SERVICES)]:
        copy = tmp_path_factory.mktemp("source") / source.name
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "tests"))
        [_] = WheelBuilder(str(copy)).build(directory=str(folder))
    return folder


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_installs_without_other_services(service, wheels: Path, tmp_path: Path) -> None:
    packages = [name.replace("-", "_") for name in SERVICES]
    own = service.replace("-", "_")
    target = tmp_path / "installed"
    # Built outside a clone, as the images are: without a tag the version is the fallback.
    for wheel in (f"campus_{own}-0.0.0-py3-none-any.whl", "campus_common-0.0.0-py3-none-any.whl"):
        shutil.unpack_archive(wheels / wheel, target, format="zip")
    # -I: neither the environment nor the working folder adds a path; -S: nor the tests' own installation.
    program = f"import sys; sys.path.insert(0, {str(target)!r})\n{PROBE}"
    names = [*packages, "common", "contracts", "providers"]
    response = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, *names], capture_output=True, text=True, check=True
    )
    importable = {name for name, found in json.loads(response.stdout).items() if found}
    assert importable == {own, "common", "contracts", "providers"}
    assert (target / own / "migrations" / "versions").is_dir()


def normalized(requirement: str) -> str:
    return re.split(r"[\[<>=!;~ ]", requirement, maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")


def project_of(folder: str) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    return project


EXTRAS: dict[str, list[str]] = project_of("libs/common")["optional-dependencies"]


def extras_of(folder: str) -> set[str]:
    """Return the extras of the library that a distribution names."""
    [line] = [it for it in project_of(folder)["dependencies"] if normalized(it) == "campus-common"] or ["campus-common"]
    return set(re.findall(r"\w+", line.removeprefix("campus-common")))


@cache
def distributions_by_package() -> dict[str, list[str]]:
    """Return the names of the distributions that contain a package: the metadata of all are read once."""
    # Ours are installed editable, so that their metadata do not list their packages.
    ours = {package: [f"campus-{Path(folder).name}"] for folder, package in DISTRIBUTIONS.items()}
    return {**packages_distributions(), **ours, "contracts": ["campus-common"], "providers": ["campus-common"]}


def distributions_of(roots: Iterable[str]) -> dict[str, set[str]]:
    """Return the distributions that contain each package, normalized."""
    return {root: set(map(normalized, distributions_by_package().get(root, [root]))) for root in roots}


def roots_of(paths: Iterable[Path]) -> set[str]:
    """Return the packages that files import, the standard library's apart."""
    roots = {name.partition(".")[0] for path in paths for name in imports_of(path)}
    return roots - sys.stdlib_module_names


@pytest.mark.parametrize("folder", DISTRIBUTIONS)
def test_a_distribution_declares_what_it_imports(folder: str) -> None:
    project, library = project_of(folder), project_of("libs/common")
    declared = {normalized(requirement) for requirement in [project["name"], *project["dependencies"]]}
    extras = set(EXTRAS) if folder == "libs/common" else extras_of(folder)
    if "campus-common" in declared:
        # Every service requires the library, and with it its frameworks.
        declared |= {normalized(requirement) for requirement in library["dependencies"]}
        declared |= {normalized(requirement) for extra in extras for requirement in EXTRAS[extra]}
    imported = distributions_of(roots_of(python_files(ROOT / folder / "src")))
    assert {root for root, found in imported.items() if declared.isdisjoint(found)} == set()


@cache
def library_modules() -> dict[str, Path]:
    return {module_of(path): path for path in python_files(ROOT / "libs/common/src")}


def files_of_image(folder: str) -> set[Path]:
    """Return the files of an image's code, and those of the library that they import, also inside of functions."""
    modules = library_modules()
    found = set[Path]()
    ahead = [*python_files(ROOT / folder / "src"), *(ROOT / folder).glob("migrations/**/*.py")]
    while ahead:
        path = ahead.pop()
        if path in found:
            continue
        found.add(path)
        for name in imports_of(path):
            parts = name.split(".")
            dotted = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
            ahead += [modules[one] for one in dotted if one in modules]
    return found


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_contains_what_its_code_imports(image: str) -> None:
    imported = distributions_of(roots_of(files_of_image(IMAGES[image])))
    installed = {line.name for line in requirements_in(part_for(IMAGES[image]))}
    ours = {"campus-common", project_of(IMAGES[image])["name"]}
    assert {root for root, found in imported.items() if found.isdisjoint(installed | ours)} == set()


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_contains_what_its_packages_require(image: str) -> None:
    """The lock names the dependents of each package, also after a change by hand."""
    lines = requirements_in(part_for(IMAGES[image]))
    needed = {
        (line.name, normalized(requirement.name))
        for line in lines
        if not line.marker
        for requirement in map(Requirement, requires(line.name) or [])
        if requirement.marker is None or requirement.marker.evaluate({"extra": "", "sys_platform": "linux"})
    }
    installed = {line.name for line in lines}
    assert {(name, requirement) for name, requirement in needed if requirement not in installed} == set()


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_names_the_extras_of_the_library_that_its_code_uses(image: str) -> None:
    """So an image that calls no provider has one HTTP client, and one without documents no fonts."""
    folder = IMAGES[image]
    files = files_of_image(folder) - set(python_files(ROOT / folder / "src"))
    used = set().union(*distributions_of(roots_of(files)).values())
    assert extras_of(folder) == {
        extra for extra, lines in EXTRAS.items() if not used.isdisjoint(map(normalized, lines))
    }
