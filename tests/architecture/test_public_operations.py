"""Every module of the use cases is an operation or a step of one."""

import pytest

from testkit.cases import for_each
from tests.architecture.sources import SHAPED, imports_of, inside, module_of, python_files


@for_each("service", [pytest.param(service, id=service) for service in SHAPED])
def test_every_use_case_is_called(service) -> None:
    """By an endpoint, a consumer, a timer, a command or another use case."""
    package = SHAPED[service]
    called = {f"{name}." for path in python_files(package) for name in imports_of(path)}
    modules = [
        module_of(path)
        for path in python_files(package)
        if inside(path, package) == "use_cases" and path.name != "__init__.py"
    ]
    assert [name for name in modules if not any(one.startswith(f"{name}.") for one in called)] == []
