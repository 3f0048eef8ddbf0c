"""The generated Python client is complete and typed. Its behaviour is tested in clients/python/tests."""

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from campus_client import AsyncCampus, Campus, errors, models
from campus_tools.documents.files import PAGES
from campus_tools.documents.python_client import names_of
from common.web.endpoints import AUDIENCE
from tests.architecture.sources import ROOT

CLIENTS = (Campus, AsyncCampus)


def reference():
    return json.loads((ROOT / PAGES / "openapi.json").read_text())


def operations():
    return [operation for path in reference()["paths"].values() for operation in path.values()]


def operations_of(client):
    """Return the operations of a client by resource and name, with their signatures."""
    return {
        (resource, name): inspect.signature(method)
        for resource, operations in vars(client("http://campus")).items()
        if not resource.startswith("_")
        for name, method in inspect.getmembers(operations, inspect.ismethod)
        if not name.startswith("_")
    }


@pytest.mark.parametrize("client", CLIENTS)
def test_every_operation_has_its_method(client) -> None:
    assert set(operations_of(client)) == {
        names_of(one["operationId"]) for one in operations() if one.get(AUDIENCE) != "protocol"
    }


def test_operations_that_no_token_opens_are_not_for_users() -> None:
    assert {operation["operationId"].split(".")[0] for operation in operations() if AUDIENCE in operation} == {
        "assistant", "auth", "functions", "health", "notifications", "webhooks",
    }  # fmt: skip
    for operation in operations():
        schemes = {scheme for way in operation["security"] for scheme in way} - {"bearer", "apiKey"}
        if schemes:
            assert operation[AUDIENCE] == ("service" if schemes == {"serviceKey"} else "protocol"), operation


def test_both_clients_have_the_same_parameters() -> None:
    blocking, asynchronous = operations_of(Campus), operations_of(AsyncCampus)
    assert {name: one.parameters for name, one in blocking.items()} == {
        name: one.parameters for name, one in asynchronous.items()
    }
    for name, method in inspect.getmembers(Campus, inspect.isfunction):
        if not name.startswith("_") and name not in ("close", "with_response"):
            assert inspect.signature(method) == inspect.signature(getattr(AsyncCampus, name)), name


def test_every_error_code_has_an_exception() -> None:
    assert set(errors.BY_CODE) == set(reference()["components"]["schemas"]["ProblemCode"]["enum"])


def test_every_model_can_be_read() -> None:
    for name, model in vars(models).items():
        if isinstance(model, type) and name[0].isupper() and hasattr(model, "model_rebuild"):
            model.model_rebuild()
            assert model.model_json_schema()


def test_the_client_is_installed_alone_and_brings_its_types(tmp_path: Path) -> None:
    copy = tmp_path / "source"
    shutil.copytree(ROOT / "clients/python", copy, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=copy, check=True, capture_output=True)
    shutil.unpack_archive(tmp_path / "campus_client-0.0.0-py3-none-any.whl", tmp_path / "installed", format="zip")
    assert (tmp_path / "installed/campus_client/py.typed").exists()
    probe = (
        "import sys, campus_client; print(sorted({'common', 'contracts', 'operations', 'campus_tools'} & "
        "set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    output = subprocess.run([sys.executable, "-c", probe], env=environment, check=True, capture_output=True, text=True)
    assert output.stdout.strip() == "[]"
