"""Installing one service's distribution leaves the others unimportable."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, SERVICES

PROBE = """
import importlib.util, json, sys
print(json.dumps({name: importlib.util.find_spec(name) is not None for name in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for source in [ROOT / "libs/common", *(ROOT / "services" / name for name in SERVICES)]:
        copy = tmp_path_factory.mktemp("source") / source.name
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "tests"))
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_installed_alone(service, wheels, tmp_path):
    packages = [name.replace("-", "_") for name in SERVICES]
    own = service.replace("-", "_")
    target = tmp_path / "installed"
    for wheel in (f"campus_{own}-0.1.0-py3-none-any.whl", "campus_common-0.1.0-py3-none-any.whl"):
        shutil.unpack_archive(wheels / wheel, target, format="zip")
    # -I: neither the environment nor the working folder adds a path; -S: nor the tests' own installation.
    program = f"import sys; sys.path.insert(0, {str(target)!r})\n{PROBE}"
    names = [*packages, "common", "contracts"]
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, *names], capture_output=True, text=True, check=True
    )
    importable = {name for name, found in __import__("json").loads(answer.stdout).items() if found}
    assert importable == {own, "common", "contracts"}
    assert (target / own / "migrations" / "versions").is_dir()
