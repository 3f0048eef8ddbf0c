"""The engine of Helm 4, in a process of its own: its runtime and pytest's do not share signals."""

import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.architecture.kustomize import Resource
from tests.architecture.sources import ROOT

ENGINE = ROOT / ".venv/helm"
PROGRAM = """
import json, sys
from helm_python import HelmError
from helm_python.chart import Chart, lint
request = json.load(sys.stdin)
try:
    report = lint(request["chart"], request["values"], strict=True)
    with Chart.load(request["chart"]) as chart:
        rendered = chart.render(request["values"], name="campus", namespace=request["namespace"])
    print(json.dumps({"lint": report, "rendered": rendered}))
except HelmError as error:
    print(json.dumps({"error": str(error)}))
"""


def install() -> None:
    """Install the engine where it is missing. On a machine that cannot have it, the test is skipped; in CI it fails."""
    installed = subprocess.run([ROOT / "tools/setup", "helm"], capture_output=True, text=True, check=False)
    if installed.returncode:
        if os.environ.get("CI") and platform.machine() == "x86_64":
            pytest.fail(installed.stderr)
        pytest.skip(installed.stderr)


def run(chart: Path, values: dict[str, Any] | None = None, namespace: str = "campus") -> dict[str, Any]:
    """Return the report of `helm lint --strict` and the files of `helm template`, or the error of Helm."""
    return _run(json.dumps({"chart": str(chart), "values": values or {}, "namespace": namespace}))


@cache
def _run(request: str) -> dict[str, Any]:
    """Run the engine: a second of CPU. No chart changes between two tests."""
    # Go collects its garbage rarely: a sixth less.
    environment = {**os.environ, "PYTHONPATH": str(ENGINE), "GOGC": "800"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=request, capture_output=True, text=True, check=True, env=environment
    )
    result: dict[str, Any] = json.loads(ran.stdout)
    return result


def resources_of(rendered: dict[str, str]) -> list[Resource]:
    texts = [text for path, text in rendered.items() if path.endswith(".yaml")]
    return [it for text in texts for it in yaml.load_all(text, yaml.CSafeLoader) if it]
