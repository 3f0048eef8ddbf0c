"""wrk: closed-loop load over HTTP."""

import asyncio
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab.bench.programs import BenchFailed

_UNITS_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}


@dataclass(frozen=True, slots=True)
class WrkReport:
    """The report of wrk."""

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    failures: int


def parse(output: str) -> WrkReport:
    """Parse the report of `wrk --latency`. Raises BenchFailed when it is unreadable."""
    total = re.search(r"(\d+) requests in ([\d.]+)(us|ms|s|m)\b", output)
    if total is None:
        raise BenchFailed(f"the report of wrk is unreadable:\n{output}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output)
    failures = int(refused[1]) if refused else 0
    failures += sum(int(part) for part in broken.groups()) if broken else 0
    return WrkReport(
        int(total[1]),
        float(total[2]) * _UNITS_MS[total[3]] / 1000,
        _percentile_ms(output, "50%"),
        _percentile_ms(output, "99%"),
        failures,
    )


async def run(program: str, url: str, *, connections: int, seconds: float, script: str | None = None) -> WrkReport:
    """Load the address from one thread; `script` is Lua. Raises BenchFailed for a response that is not 2xx."""
    with tempfile.TemporaryDirectory(prefix="campus-wrk-") as folder:
        options = ["-t1", f"-c{connections}", f"-d{round(seconds * 1000)}ms", "--latency", "--timeout", "10s"]
        # wrk accepts whole seconds only.
        options[2] = f"-d{max(1, round(seconds))}s"
        if script is not None:
            path = Path(folder) / "load.lua"
            path.write_text(script)
            options += ["-s", str(path)]
        child = await asyncio.create_subprocess_exec(
            program, *options, url, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output = (await child.communicate())[0].decode(errors="replace")
    report = parse(output)
    if report.failures or not report.requests:
        raise BenchFailed(f"{url}: {report.failures} of {report.requests} responses were not 2xx:\n{output}")
    return report


def _percentile_ms(output: str, name: str) -> float:
    found = re.search(rf"^\s+{name}\s+([\d.]+)(us|ms|s|m)\s*$", output, re.MULTILINE)
    if found is None:
        raise BenchFailed(f"the report of wrk has no {name} percentile:\n{output}")
    return float(found[1]) * _UNITS_MS[found[2]]
