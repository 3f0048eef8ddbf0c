"""Memory of the six services with their workers."""

from lab.bench.cpu import proportional_mib, resident_mib
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Figures, Goal, Row


async def measure(bench: BenchEnvironment) -> list[Row]:
    pids = [process.pid for process in bench.system.processes if process.name != "sandbox" and process.pid is not None]
    return [
        Row(
            f"memory of {len(pids)} processes, shared pages once (PSS)",
            "",
            Figures(),
            value=proportional_mib(pids),
            unit="MiB",
            goals=(Goal("value", 450, unit=" MiB"),),
        ),
        Row(f"memory of {len(pids)} processes, resident (RSS)", "", Figures(), value=resident_mib(pids), unit="MiB"),
    ]
