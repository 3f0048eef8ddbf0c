"""pgbench: the statements of a path without its code, as the limit of the path."""

import asyncio
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.bench.figures import percentile
from lab.bench.programs import BenchFailed

# A log of all transactions slows pgbench down; a fifth of them is enough for percentiles.
_SAMPLED = 0.2
# Numbers start at the millisecond of the run, times a hundred: no client makes that many transactions in a millisecond.
_PER_MILLISECOND = 100


@dataclass(frozen=True, slots=True)
class PgbenchReport:
    """The report of pgbench."""

    transactions: int
    rate: float
    failures: int


def parse(output: str) -> PgbenchReport:
    """Parse the report. Raises BenchFailed when it is unreadable."""
    done = re.search(r"number of transactions actually processed: (\d+)", output)
    rate = re.search(r"^tps = ([\d.]+)", output, re.MULTILINE)
    failed = re.search(r"number of failed transactions: (\d+)", output)
    if done is None or rate is None:
        raise BenchFailed(f"the report of pgbench is unreadable:\n{output}")
    return PgbenchReport(int(done[1]), float(rate[1]), int(failed[1]) if failed else 0)


def parse_log(text: str) -> list[float]:
    """Return the times in milliseconds of the transactions of a log: `client transaction time_us script epoch us`."""
    return [float(line.split()[2]) / 1000 for line in text.splitlines() if line]


def script(statements: Sequence[str], *, draws: Mapping[str, int] | None = None, pipelined: bool = False) -> str:
    """Return a script of one transaction. `:n` is unique for each transaction of all runs; `draws` are random numbers
    from 1 to the given bound. The statements of one simple query are sent together even without `pipelined`, as in the
    path.
    """
    lines = ["\\set n :n + 1", *(f"\\set {name} random(1, {highest})" for name, highest in (draws or {}).items())]
    if pipelined:
        flat = [part for statement in statements for part in _parts(statement)]
        return "\n".join([*lines, "\\startpipeline", *(f"{_one_line(part)};" for part in flat), "\\endpipeline", ""])
    for statement in statements:
        parts = _parts(statement)
        body = [f"{_one_line(part)};" for part in parts]
        lines += ["\\startpipeline", *body, "\\endpipeline"] if len(parts) > 1 else body
    return "\n".join([*lines, ""])


async def run(
    program: str, url: str, text: str, *, connections: int, seconds: float
) -> tuple[PgbenchReport, float | None, float | None]:
    """Run a script: the report, p50 and p99 in milliseconds. Raises BenchFailed for a failed transaction."""
    with tempfile.TemporaryDirectory(prefix="campus-pgbench-") as folder:
        path = Path(folder) / "transaction.sql"
        path.write_text(text)
        child = await asyncio.create_subprocess_exec(
            program, "--no-vacuum", "--protocol=prepared", f"--client={connections}", "--jobs=1",
            f"--time={max(1, round(seconds))}", f"--file={path}",
            f"--define=n={time.time_ns() // 1_000_000 * _PER_MILLISECOND}",
            "--log", f"--log-prefix={folder}/log", f"--sampling-rate={_SAMPLED}", url,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output = (await child.communicate())[0].decode(errors="replace")
        times = [time for log in Path(folder).glob("log.*") for time in parse_log(log.read_text())]
    if child.returncode != 0:
        raise BenchFailed(f"pgbench exited with code {child.returncode}:\n{output}\n{text}")
    report = parse(output)
    if report.failures or not report.transactions:
        raise BenchFailed(f"{report.failures} transactions of pgbench failed:\n{output}")
    return report, percentile(times, 0.5), percentile(times, 0.99)


def _parts(statement: str) -> list[str]:
    return [part.strip() for part in statement.split(";") if part.strip()]


def _one_line(statement: str) -> str:
    """Return the statement without line breaks and comments: a comment would hide the rest of the line."""
    return " ".join(re.sub(r"--[^\n]*", "", statement).split())
