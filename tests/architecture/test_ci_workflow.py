"""CI runs the commands of the Makefile, with pinned actions and without write access."""

import re
import subprocess
import tomllib

import pytest
import yaml

from tests.architecture.sources import ROOT
from tests.conftest import OneSystem

PATH = ROOT / ".github/workflows/ci.yml"
WORKFLOW = yaml.safe_load(PATH.read_text())
STEPS = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
COMMANDS = [step["run"] for step in STEPS if "run" in step]
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_ci_runs_the_commands_of_the_makefile() -> None:
    assert COMMANDS == [
        ".ci/run ${{ matrix.part }}",
        "tests/compose/run",
        "tests/compose/scale",
        "make sbom",
        "make audit-dependencies",
    ]


def test_the_jobs_of_ci_are_all_parts_of_the_script() -> None:
    services = {f"services/{path.parent.name}" for path in ROOT.glob("services/*/pyproject.toml")}
    parts = WORKFLOW["jobs"]["parts"]["strategy"]["matrix"]["part"]
    assert sorted(parts) == sorted({"lint", "library", "system", "clients"} | services)


def test_ci_runs_the_oldest_python_and_that_of_the_images() -> None:
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    image = re.search(r"^ARG PYTHON_IMAGE=python:(\d+\.\d+)", (ROOT / "deploy/Dockerfile").read_text(), re.MULTILINE)
    assert image is not None
    assert WORKFLOW["jobs"]["parts"]["strategy"]["matrix"]["python"] == [oldest, image[1]]


def test_an_unknown_part_of_the_script_is_an_error() -> None:
    ended = subprocess.run([ROOT / ".ci/run", "nonsense"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "There is no part nonsense" in ended.stderr


def test_every_folder_of_tests_is_in_one_part() -> None:
    """The parts of `tools/test` are the test paths of pytest, each of them once."""
    runner = (ROOT / "tools/test").read_text()
    library = re.search(r"library=\((.*?)\)", runner, re.DOTALL)
    system = re.search(r"    run (tests/.*)", runner)
    assert library is not None
    assert system is not None
    folders = [*library[1].split(), *system[1].split(), "services"]
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["testpaths"]
    tests = [f"tests/{path.name}" for path in (ROOT / "tests").iterdir() if list(path.glob("test_*.py"))]
    assert sorted(folders) == sorted([*(path for path in configured if path != "tests"), *tests])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_exists(command) -> None:
    program, _, rest = command.partition(" ")
    if program == "make":
        assert rest in TARGETS
        return
    script = ROOT / program
    assert script.stat().st_mode & 0o100
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


def test_every_make_target_of_ci_exists() -> None:
    requested = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / ".ci/run").read_text()))
    assert {"setup", "lint", "test", "run", "demo"} <= requested <= TARGETS


def test_actions_are_pinned_by_commit() -> None:
    lines = re.findall(r"uses: (.*)", PATH.read_text())
    assert len(lines) == len([step for step in STEPS if "uses" in step])
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in lines)


def test_jobs_have_read_only_tokens() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert not [job for job in WORKFLOW["jobs"].values() if "permissions" in job]
    checkouts = [step for step in STEPS if step.get("uses", "").startswith("actions/checkout@")]
    assert [step["with"]["persist-credentials"] for step in checkouts] == [False] * len(WORKFLOW["jobs"])


def test_every_step_can_fail_and_has_a_timeout() -> None:
    assert "continue-on-error" not in PATH.read_text()
    assert "|| true" not in PATH.read_text()
    assert all(0 < job["timeout-minutes"] <= 90 for job in WORKFLOW["jobs"].values())


def test_caches_are_named_by_the_lock_file() -> None:
    kept = [step["with"] for step in STEPS if step.get("uses", "").startswith("actions/cache@")]
    assert kept
    for entry in kept:
        assert "hashFiles('requirements.lock')" in entry["key"]
        assert "restore-keys" not in entry


def test_stored_bills_of_materials_are_the_written_ones() -> None:
    (upload,) = [step["with"] for step in STEPS if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert upload["path"] == "build/sbom/*.cdx.json"
    assert upload["if-no-files-found"] == "error"


@pytest.mark.parametrize(
    ("test", "scope"),
    [
        ("tests/resilience/test_crash_points_and_races.py::test_an_order", "tests/resilience"),
        ("tests/resilience/test_histories.py::test_an_anomaly[lost-write]", "tests/resilience"),
        ("tests/console/test_sign_in.py::test_a_session", "tests/console/test_sign_in.py"),
    ],
)
def test_the_tests_that_share_a_system_run_in_one_worker(test: str, scope: str) -> None:
    assert OneSystem._split_scope(object.__new__(OneSystem), test) == scope
