"""Runs the tests of a mutant in a process of its own, on a copy of the package and on servers that all mutants
share.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from lab.mutants.mutants import ROOT, Mutant
from lab.mutants.reach import Reach
from operations.connecting import connected
from operations.provision import create_database, provision_roles, service_database_urls
from operations.services import service_named
from testkit.fixtures import role_passwords
from testkit.workers import throwaway_servers

# Far above the slowest selection of tests: a mutant that runs longer waits for something that its fault prevents.
SECONDS_MAX: Final = 180
# Bytes. Far above what tests need: an endless loop that fills memory must end before the machine does.
MEMORY_MAX: Final = 4 * 2**30
_KILLED_BY_TIME: Final = 124
# A test that caught a mutant often catches the next one of the same function.
RECENT_MAX: Final = 3
# Imported once here, for all mutants. None of ours: a mutant must import its own copy.
_LIBRARIES: Final = (
    "aio_pika",
    "aiohttp",
    "alembic.operations",
    "asyncpg",
    "fastapi",
    "httpx",
    "hypothesis",
    "msgspec",
    "pydantic_settings",
    "sqlalchemy.ext.asyncio",
    "structlog",
    "uvicorn",
    "uvloop",
)


class Runner:
    """Runs tests against a copy of one package."""

    def __init__(self, package: Path, folder: Path) -> None:
        self._copy = folder / package
        self._folder = folder
        self._run = os.urandom(4).hex()
        self._turn = 0
        self._catchers: list[str] = []
        service = package.parent
        shutil.copytree(ROOT / service, folder / service, ignore=shutil.ignore_patterns("tests", "__pycache__"))

    def baseline(self, tests: Sequence[str], output: Path) -> Reach:
        """Run all tests unchanged, and returns what each of them reaches.

        Raises:
            SystemExit: a test fails without any fault.
        """
        environment = {"MUTANTS_REACH": str(output), "MUTANTS_ROOT": f"{self._folder}/"}
        if self._fork(tests, environment, seconds_max=3600, is_quiet=False) != 0:
            raise SystemExit("a test fails without any fault, so that it detects none")
        return Reach(json.loads(output.read_text(encoding="utf-8")))

    def kills(self, mutant: Mutant, tests: Sequence[str]) -> bool:
        """Return whether a test fails with this mutant, or does not end. Those of earlier mutants run first."""
        assert mutant.path is not None
        target, catcher = self._folder / mutant.path, self._folder / "catcher"
        before = target.read_text(encoding="utf-8")
        recent = [test for test in self._catchers if test in tests][:RECENT_MAX]
        ordered = list(dict.fromkeys([*recent, *tests]))
        catcher.unlink(missing_ok=True)
        try:
            self._write(target, mutant.source())
            environment = {"MUTANTS_CATCHER": str(catcher)}
            return self._fork([*ordered, "-x"], environment, seconds_max=max(SECONDS_MAX, 2 * len(ordered))) != 0
        finally:
            self._write(target, before)
            if catcher.exists():
                test = catcher.read_text(encoding="utf-8")
                self._catchers = [test, *(other for other in self._catchers if other != test)]

    def _write(self, target: Path, source: str) -> None:
        """Each text has a time of its own, by which Python recognizes that its compiled one is stale."""
        target.write_text(source, encoding="utf-8")
        self._turn += 1
        os.utime(target, (1_700_000_000 + self._turn, 1_700_000_000 + self._turn))

    def _fork(
        self, arguments: Sequence[str], environment: dict[str, str], *, seconds_max: int, is_quiet: bool = True
    ) -> int:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setpgid(0, 0)
                status = self._test(arguments, environment, is_quiet=is_quiet)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        ended, deadline = 0, time.monotonic() + seconds_max
        try:
            while time.monotonic() < deadline:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    return os.waitstatus_to_exitcode(status)
                time.sleep(0.02)
            return _KILLED_BY_TIME
        finally:
            if not ended:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)

    def _test(self, arguments: Sequence[str], environment: dict[str, str], *, is_quiet: bool) -> int:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
        if is_quiet:
            silence = os.open(self._folder / "last-run.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
        os.environ |= environment | {"TEST_RUN": self._run, "PYTHONPATH": str(self._copy)}
        sys.path.insert(0, str(self._copy))
        os.chdir(ROOT)
        # Those of this process are the unchanged ones.
        for name in [name for name in sys.modules if name.split(".")[0] in _OURS]:
            del sys.modules[name]
        import pytest

        # The plugins are loaded before pytest starts, for all mutants.
        options = ["-q", "-n", "0", "-p", "no:randomly", "-p", "lab.mutants.reach", "--tb=short"]
        return int(pytest.main([*options, "-W", "ignore::pytest.PytestAssertRewriteWarning", *arguments]))


_SERVICES: Final = tuple(path.name for path in ROOT.glob("services/*/src/*") if path.is_dir())
_TOOLS: Final = (
    "campus_tools",
    "common",
    "contracts",
    "providers",
    "operations",
    "testkit",
    "sandbox",
    "console",
    "lab",
)
# A metric is registered once in a process.
_OURS: Final = (*_TOOLS, *_SERVICES, "prometheus_client")


@contextmanager
def shared_servers() -> Iterator[Path]:
    """PostgreSQL and RabbitMQ for all mutants, and a folder for the copies."""
    for library in _LIBRARIES:
        __import__(library)
    with throwaway_servers() as servers, tempfile.TemporaryDirectory(prefix="campus-mutants-") as folder:
        servers.postgresql.start()
        servers.rabbitmq.start()
        os.environ |= {
            "DATABASE_URL": servers.database_url,
            "BROKER_URL": servers.broker_url,
            "BROKER_MANAGEMENT_URL": servers.management_url,
        }
        yield Path(folder)


@asynccontextmanager
async def migrated_database(service: str) -> AsyncIterator[str]:
    """Yield the administrator's address of a migrated database of a service, which ends with the servers."""
    admin_url = os.environ["DATABASE_URL"]
    definition, passwords = service_named(service), role_passwords(admin_url)
    name = f"mutants_{definition.import_name}"
    async with connected(admin_url) as connection:
        await provision_roles(connection, passwords)
        await create_database(connection, definition, name)
    urls = service_database_urls(admin_url, definition, passwords, name)
    subprocess.run(
        [sys.executable, "-m", definition.import_name, "migrate"], env={**os.environ, **urls}, check=True, cwd=ROOT
    )
    yield urlunsplit(urlsplit(admin_url)._replace(path=f"/{name}"))
