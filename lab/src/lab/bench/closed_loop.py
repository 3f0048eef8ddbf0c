"""Run `lab.bench.calls` in a separate process and read its results."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lab.bench.environment import CONNECTIONS, BenchEnvironment
from lab.bench.figures import Reading, Run
from lab.bench.programs import BenchFailed

_LATE_SECONDS = 60.0


@asynccontextmanager
async def calling(bench: BenchEnvironment, call: str, service: str, *, label: str = "") -> AsyncIterator[Run]:
    """Yield a function that runs the call for a number of seconds on the (labelled) bench database of a service."""
    urls = bench.databases[f"{service} {label}".strip()]
    given = {"API_DATABASE_URL": urls.api, "SERVICE_DATABASE_URL": urls.service}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.bench.calls", call, str(CONNECTIONS),
        env=bench.variables(service, bench.next_port(), **given),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    output, commands = child.stdout, child.stdin

    async def run(seconds: float) -> Reading:
        database = bench.postgresql
        before = database.seconds()
        commands.write(f"{seconds}\n".encode())
        line = await asyncio.wait_for(output.readline(), seconds + _LATE_SECONDS)
        if not line:
            raise BenchFailed(f"lab.bench.calls {call} exited with code {await child.wait()}")
        return Reading(**json.loads(line), database_cpu_seconds=database.seconds() - before)

    try:
        if await asyncio.wait_for(output.readline(), _LATE_SECONDS) != b"ready\n":
            raise BenchFailed(f"lab.bench.calls {call} did not start")
        yield run
    finally:
        commands.close()
        await child.wait()
