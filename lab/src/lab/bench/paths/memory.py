"""Memory of the six services with the console, and of their servers."""

from lab.bench.cpu import proportional_mib, resident_mib, with_children
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Figures, Goal, Row

# What a campus on a machine of 2 GiB may hold, without the sandbox (1.2 GiB).
_CAMPUS_MIB_MAX = 1_229


async def measure(bench: BenchEnvironment) -> list[Row]:
    """Return the rows of memory. A page that processes share counts once in PSS, and for each of them in RSS."""
    pids = [process.pid for process in bench.system.processes if process.name != "sandbox" and process.pid is not None]
    servers = bench.system.servers
    by_server = {
        name: with_children([pid for _, pid, _ in server.places])
        for name, server in (("PostgreSQL", servers.postgresql), ("RabbitMQ", servers.rabbitmq))
    }
    everything = [*pids, *(pid for found in by_server.values() for pid in found)]
    return [
        _row(f"memory of {len(pids)} processes (PSS)", proportional_mib(pids), 450),
        _row(f"memory of {len(pids)} processes (RSS)", resident_mib(pids)),
        *(_row(f"memory of {name} (PSS)", proportional_mib(found)) for name, found in by_server.items()),
        _row("memory of a campus: processes and servers (PSS)", proportional_mib(everything), _CAMPUS_MIB_MAX),
    ]


def _row(name: str, mib: float, goal: float | None = None) -> Row:
    goals = () if goal is None else (Goal("value", goal, unit=" MiB"),)
    return Row(name, "", Figures(), value=mib, unit="MiB", goals=goals)
