"""pytest-xdist: workers share the PostgreSQL and RabbitMQ that the first process starts, and take long files first.

With TEST_SERVERS=own the first process starts none: those tests have systems of their own.
"""

import fcntl
import os
import pkgutil
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from campus_tools.servers import ServerPorts, Servers, find_servers
from campus_tools.servers.memory import throwaway_root
from campus_tools.servers.postgresql import remove_data_directory

# An assertion names what it compared only in modules that pytest rewrites. This one is imported first.
pytest.register_assert_rewrite(
    *(
        f"testkit.{found.name}"
        for found in pkgutil.iter_modules([str(Path(__file__).parent)])
        if found.name != "workers"
    )
)

_STARTED = pytest.StashKey[tuple[ExitStack, dict[str, Any]]]()
_INPUT = "campus_servers"
_COLLECTED = "campus_collected"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Prepare each worker, in the first process, before the worker starts."""
    if _STARTED not in node.config.stash:
        stack = ExitStack()
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="campus-workers-"))
        node.config.stash[_STARTED] = stack, {_INPUT: _start(stack), _COLLECTED: f"{folder}/collected"}
    node.workerinput.update(node.config.stash[_STARTED][1])


def pytest_configure(config: pytest.Config) -> None:
    """Let workers keep the test modules that pytest has rewritten: half of what a worker needs to collect them.

    The programs that a test starts inherit PYTHONDONTWRITEBYTECODE as it is.
    """
    if shared_environment(config) is not None:
        sys.dont_write_bytecode = False


@contextmanager
def collecting(config: pytest.Config) -> Iterator[None]:
    """Let one worker collect before all others: they read the test modules that pytest has rewritten for it."""
    path = getattr(config, "workerinput", {}).get(_COLLECTED)
    if path is None:
        yield
        return
    with open(path, "a") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        if Path(path).stat().st_size == 0:
            yield
            mark.write("collected")
            return
    yield


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sorts the files of workers, for `--no-loadscope-reorder`: those with the mark `long`, then those with more tests.

    Long files of one folder follow each other, since they share a system.
    """
    if shared_environment(config) is None:
        return
    sizes = Counter(item.path for item in items)

    def place(item: pytest.Item) -> tuple[bool, Path, int]:
        is_long = item.get_closest_marker("long") is not None
        return not is_long, item.path.parent if is_long else Path(), -sizes[item.path]

    items.sort(key=place)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the shared servers after the last worker."""
    if started := config.stash.get(_STARTED, None):
        started[0].close()


def shared_environment(config: pytest.Config) -> dict[str, str] | None:
    """Return the addresses of the shared servers in a worker, None in a run without workers."""
    worker_input: Mapping[str, Any] = getattr(config, "workerinput", {})
    return worker_input.get(_INPUT)


def run_of(config: pytest.Config) -> str | None:
    """Return the name of the runs that share their templates: all workers of one run, or those with one `TEST_RUN`.

    None in a run of its own.
    """
    worker_input: Mapping[str, Any] = getattr(config, "workerinput", {})
    return worker_input["testrunuid"][:8] if worker_input else os.environ.get("TEST_RUN")


@contextmanager
def throwaway_servers(environment: Mapping[str, str] | None = None) -> Iterator[Servers]:
    """Servers whose data is removed at the end. None is started yet."""
    folder = tempfile.TemporaryDirectory(prefix="campus-tests-", dir=throwaway_root(), ignore_cleanup_errors=True)
    with folder as directory, ServerPorts.held() as ports:
        found = find_servers(Path(directory), ports, environment=environment, redis=True, durable=False, report=_report)
        try:
            yield found
        finally:
            found.stop()
            found.remove_data()


@contextmanager
def throwaway_state(logs: Path) -> Iterator[Path]:
    """Yield a state directory of one system, in memory where there is room: a commit waits for no disk.

    It is removed at the end; the logs of the system stay in `logs`.
    """
    folder = tempfile.TemporaryDirectory(prefix="campus-tests-", dir=throwaway_root(), ignore_cleanup_errors=True)
    with folder as directory:
        state = Path(directory)
        try:
            yield state
        finally:
            if (state / "logs").exists():
                shutil.copytree(state / "logs", logs, dirs_exist_ok=True)
            remove_data_directory(state)


def _report(message: str) -> None:
    print(message, file=sys.stderr)


def _start(stack: ExitStack) -> dict[str, str]:
    if os.environ.get("TEST_SERVERS") == "own":
        return {}
    servers = stack.enter_context(throwaway_servers())
    servers.postgresql.start()
    servers.rabbitmq.start()
    return {
        "DATABASE_URL": servers.database_url,
        "BROKER_URL": servers.broker_url,
        "BROKER_MANAGEMENT_URL": servers.management_url,
    }
