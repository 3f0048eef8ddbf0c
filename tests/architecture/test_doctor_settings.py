"""Doctor reads settings that exist, and has their defaults: it may import no service."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from operations.doctor.examination import DEFAULTS
from tests.architecture.manifests import SETTINGS
from tests.architecture.sources import ROOT, nodes_of, python_files

FIELDS = {name.upper(): field for model in SETTINGS.values() for name, field in model.model_fields.items()}
# Read by something else than a service's Settings.
OTHERS = {
    "DEMO_DATA",
    "BOOTSTRAP_ADMIN_EMAIL",
    # Of docker-compose.yml: the bucket of notifications.
    "TICKETS_S3_BUCKET",
}


def names_in(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"value", "url"}:
            yield from (argument.value for argument in node.args if isinstance(argument, ast.Constant))


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_a_default_of_doctor_is_that_of_the_service(name: str) -> None:
    default = FIELDS[name].default
    assert DEFAULTS[name] == (str(default).lower() if isinstance(default, bool) else default)


def test_doctor_reads_settings_that_exist() -> None:
    read = {name for path in python_files(ROOT / "operations/src/operations/doctor") for name in names_in(path) if name}
    assert read - set(FIELDS) - OTHERS == set()
