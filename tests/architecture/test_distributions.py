"""A distribution declares its imports, and an installation of one service does not contain the others."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, SERVICES, imports_of, python_files

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
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
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


@pytest.mark.parametrize("folder", DISTRIBUTIONS)
def test_a_distribution_declares_what_it_imports(folder: str) -> None:
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    declared = {normalized(requirement) for requirement in [project["name"], *project["dependencies"]]}
    if "campus-common" in declared:
        # Every service requires the library, and with it its frameworks.
        library = tomllib.loads((ROOT / "libs/common/pyproject.toml").read_text())["project"]["dependencies"]
        declared |= {normalized(requirement) for requirement in library}
    # Ours are installed editable, so that their metadata do not list their packages.
    ours = {package: [f"campus-{Path(folder).name}"] for folder, package in DISTRIBUTIONS.items()}
    known = {**packages_distributions(), **ours, "contracts": ["campus-common"], "providers": ["campus-common"]}
    roots = {
        name.partition(".")[0]
        for path in python_files(ROOT / folder / "src")
        for name in imports_of(path)
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    undeclared = {root for root in roots if declared.isdisjoint(map(normalized, known.get(root, [root])))}
    assert not undeclared
