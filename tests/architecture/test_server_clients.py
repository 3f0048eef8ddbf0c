"""Few modules open a client of the broker, the database or Redis, and every wait on it has a limit of ours
(decision 82).
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import ROOT, dotted, imports_of, nodes_of, product_files

OPENERS: Final = {
    "aio_pika": {"common/messaging/bus.py", "common/messaging/replaying.py", "common/messaging/topology.py"},
    "asyncpg": {"common/primitives/database_servers.py"},
    "redis": {"api_gateway/store_quotas.py"},
}
OPENING: Final = {"connect", "connect_robust", "create_pool", "from_url", "Redis", "Connection", "RobustConnection"}
# Calls of the broker's library on what another module opened.
OF_THE_BROKER: Final = {"ack", "nack", "reject", "basic_publish", "basic_ack", "basic_nack"}
LIBRARIES: Final = {"aio_pika": ("aio_pika", "aiormq"), "asyncpg": ("asyncpg",), "redis": ("redis",)}
# Its calls are within those that `Bus` bounds.
BOUNDED_BY_ITS_CALLERS: Final = {"common/messaging/bus.py"}


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT)).split("/src/")[-1]


def _named_calls(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the (object, method) of each call of a dotted name."""
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield dotted(node.func.value), node.func.attr


@pytest.mark.parametrize("library", OPENERS)
def test_clients_are_opened_in_named_modules(library: str) -> None:
    found = {
        _short(path)
        for path in product_files()
        if any(of.split(".")[0] in LIBRARIES[library] and name in OPENING for of, name in _named_calls(path))
    }
    assert found == OPENERS[library]


@pytest.mark.parametrize("library", ["aio_pika", "redis"])
def test_modules_that_open_a_client_bound_their_calls(library: str) -> None:
    """asyncpg has limits of its own: see the next test."""
    for path in product_files():
        if _short(path) in OPENERS[library]:
            assert "common.primitives.waiting.bounded" in imports_of(path), path


def test_every_statement_of_a_service_has_a_limit() -> None:
    [connecting] = [path for path in product_files() if _short(path) == "common/database/connecting.py"]
    [call] = [
        node for node in nodes_of(connecting) if isinstance(node, ast.Call) and dotted(node.func) == "servers.connect"
    ]
    assert {"timeout", "command_timeout", "settings"} <= {word.arg for word in call.keywords}


def test_nothing_waits_for_the_broker_without_a_limit() -> None:
    for path in product_files():
        if _short(path) in BOUNDED_BY_ITS_CALLERS or not any(
            name.split(".")[0] in LIBRARIES["aio_pika"] for name in imports_of(path)
        ):
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
                function = node.value.func
                is_bare = isinstance(function, ast.Attribute) and function.attr in OF_THE_BROKER
                assert not is_bare, f"{path}:{node.lineno} awaits {ast.unparse(function)} without `bounded`"
