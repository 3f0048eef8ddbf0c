"""The cost of an order: CPU time by process, database and broker, commits, rows, messages and bytes of WAL.


The purchase (up to `paid_escrow`), the whole order (to the vendor's wallet) at one user and at a fixed rate, and a
payout. The idle second is measured first and subtracted. Several versions take turns: one is under load while the
others rest.
"""

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from lab.bench.counted_trade import counted_trade
from lab.bench.counting import Counters, Idle, Reading, Step, cpu_between, cpu_of_a_second, idle_between, step_between
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Effort, Figures, Goal, Row, percentile
from lab.orders import Trade
from lab.systems import Log, RunningSystem

RATE: Final = 10.0
"""Orders per second of the fixed rate."""
_WARM: Final = 5
_QUIET_WITHIN_SECONDS: Final = 60.0
_GOALS: Final = {
    "purchase": (Goal("cpu_us", 40_000, unit=" us"), Goal("p50_ms", 35, unit=" ms")),
    "order": (Goal("cpu_us", 75_000, unit=" us"),),
    "payout": (Goal("cpu_us", 30_000, unit=" us"),),
}
_COUNT_GOALS: Final = {"commits": 24, "rows": 100, "messages": 10}
_TITLES: Final = {
    "purchase": "purchase, up to paid_escrow, one user",
    "order": "order, to the vendor's wallet, one user",
    "rate": "orders at a fixed rate",
    "payout": "payout, to the bank's confirmation",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One phase of one round, without the idle share."""

    step: Step
    seconds: float
    times_ms: Sequence[float]
    """Of the whole phase, or of the checkouts at a fixed rate."""
    idle_ms: float
    """The idle share per step, which is not part of the step."""

    @property
    def cpu_ms(self) -> float:
        return sum(self.step.cpu_ms.values())


@dataclass(frozen=True, slots=True)
class _Run:
    phase: str
    before: Reading
    after: Reading
    count: int
    seconds: float
    times_ms: Sequence[float]


@dataclass(slots=True)
class Measured:
    """The samples of one version by phase."""

    idle: Idle
    samples: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, runs: Sequence[_Run], resting: Sequence[Idle]) -> "Measured":
        """Compute the idle second of a process as the median of all rests: a broker has seconds of housekeeping."""
        names = resting[0].cpu_ms
        usual = {name: statistics.median(rest.cpu_ms.get(name, 0.0) for rest in resting) for name in names}
        measured = cls(Idle(usual, resting[0].commits))
        for run in runs:
            step = step_between(run.before, run.after, run.count, measured.idle)
            idle_ms = sum(usual.values()) * (run.after.spent.at - run.before.spent.at) / run.count
            measured.samples[run.phase].append(Sample(step, run.seconds, run.times_ms, idle_ms))
        return measured

    def step(self, phase: str) -> Step:
        """Return the mean of the rounds."""
        return _mean([sample.step for sample in self.samples[phase]])


async def measure(bench: BenchEnvironment) -> list[Row]:
    """Return the rows of the bench's own system."""
    system = RunningSystem.at(bench.system.state_dir, bench.system.port_base)
    return rows(await measure_all({"": system}, bench.effort, bench.log))


async def measure_all(
    systems: Mapping[str, RunningSystem], effort: Effort, log: Log, rate: float = RATE
) -> dict[str, Measured]:
    """Measure all systems in turns, by name."""
    turn = asyncio.Lock()
    idle = asyncio.Barrier(len(systems))
    runs = [_measured(system, name, turn, idle, effort, log, rate) for name, system in systems.items()]
    return dict(zip(systems, await asyncio.gather(*runs), strict=True))


async def _measured(
    system: RunningSystem, name: str, turn: asyncio.Lock, idle: asyncio.Barrier, effort: Effort, log: Log, rate: float
) -> Measured:
    phases: dict[str, Callable[[Trade], Awaitable[tuple[int, Sequence[float]]]]] = {
        "purchase": lambda trade: _one_by_one(trade.purchase, effort.purchases),
        "order": lambda trade: _one_by_one(trade.order, effort.purchases),
        "rate": lambda trade: _at_rate(trade, rate, effort.rate_seconds),
        "payout": lambda trade: _payouts(trade, effort.purchases),
    }
    async with counted_trade(system) as (counters, trade):
        async with turn:
            for _ in range(_WARM):
                await trade.order()
            await trade.payouts(1)
            await _until_quiet(counters, 0.0)
        await idle.wait()
        log(f"{name} measuring an idle second".strip())
        first = await counters.read()
        await asyncio.sleep(effort.idle_seconds)
        rested = await counters.read()
        await idle.wait()
        runs, resting, counts = list[_Run](), [idle_between(first, rested)], rested.counts
        busy_at_rest = sum(resting[0].cpu_ms.values()) / 1000
        for phase, load in [*phases.items()] * effort.rounds:
            async with turn:
                log(f"{name} {phase}".strip())
                began = await counters.spent()
                count, times = await load(trade)
                seconds = time.monotonic() - began.at
                await _until_quiet(counters, busy_at_rest)
                ended = await counters.spent()
            before, counts = counts, await counters.counts()
            resting.append(replace(resting[0], cpu_ms=cpu_of_a_second(ended, await counters.spent())))
            runs.append(_Run(phase, Reading(began, before), Reading(ended, counts), count, seconds, times))
    return Measured.of(runs, resting)


async def _one_by_one(step: Callable[[], Awaitable[Any]], count: int) -> tuple[int, list[float]]:
    times = []
    for _ in range(count):
        began = time.perf_counter()
        await step()
        times.append((time.perf_counter() - began) * 1000)
    return count, times


async def _at_rate(trade: Trade, rate: float, seconds: float) -> tuple[int, list[float]]:
    """Start each order when it is due, even if earlier ones are unfinished; the response times of the checkouts."""
    count, began = round(rate * seconds), time.perf_counter()
    trade.checkout_ms.clear()
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            group.create_task(trade.order())
    return count, list(trade.checkout_ms)


async def _payouts(trade: Trade, count: int) -> tuple[int, list[float]]:
    await trade.payouts(count)
    return count, []


async def _until_quiet(counters: Counters, idle: float) -> None:
    """Wait until two seconds cost no more than `idle` seconds of CPU: notifications are part of an order."""
    deadline, quiet = time.monotonic() + _QUIET_WITHIN_SECONDS, 0
    before = await counters.spent()
    while quiet < 2 and time.monotonic() < deadline:
        await asyncio.sleep(1.0)
        now = await counters.spent()
        busy = sum(cpu_between(before, now).values()) / (now.at - before.at)
        quiet = quiet + 1 if busy < 2 * idle + 0.1 else 0
        before = now


# Rows and details


def rows(measured: Mapping[str, Measured]) -> list[Row]:
    """Return the rows of the last version; the limit is the version before it, if there is one."""
    (*others, own) = measured.values()
    name = next(iter(measured)) if others else ""
    other = others[0] if others else None
    found = []
    for phase, title in _TITLES.items():
        step = own.step(phase)
        found.append(
            Row(
                title,
                name,
                _figures(own.samples[phase]),
                _figures(other.samples[phase]) if other else None,
                _ratio(own.samples[phase], other.samples[phase]) if other else None,
                goals=_GOALS.get(phase, ()),
                note=_note(step, own.samples[phase]),
                details={"own": asdict(step), **({"limit": asdict(other.step(phase))} if other else {})},
            )
        )
    for kind, bound in _COUNT_GOALS.items():
        value = total(own.step("order"), kind)
        ratio = value / total(other.step("order"), kind) if other else None
        goal = Goal("value", bound)
        found.append(Row(f"{kind} of an order", name, Figures(), ratio=ratio, value=value, goals=(goal,)))
    idle, before = (sum(it.idle.cpu_ms.values()) if it else 0.0 for it in (own, other))
    found.append(
        Row(
            "idle second, all processes",
            name,
            Figures(),
            ratio=idle / before if before else None,
            value=idle,
            unit="ms",
            goals=(Goal("value", 20, unit=" ms"),),
            details={"own": asdict(own.idle), **({"limit": asdict(other.idle)} if other else {})},
        )
    )
    return found


def total(step: Step, kind: str) -> float:
    """Commit, changed rows or consumed messages of a step."""
    if kind == "commits":
        return sum(step.commits.values())
    if kind == "messages":
        return sum(step.messages.values())
    return sum(table.rows + table.changes for table in step.tables.values())


def _figures(samples: Sequence[Sample]) -> Figures:
    times = [time for sample in samples for time in sample.times_ms]
    return Figures(
        rate=statistics.mean(sample.step.count / sample.seconds for sample in samples),
        p50_ms=percentile(times, 0.5),
        p99_ms=percentile(times, 0.99),
        cpu_us=statistics.mean(sample.cpu_ms for sample in samples) * 1000,
        database_cpu_us=statistics.mean(share(sample.step, "database") for sample in samples) * 1000,
    )


def share(step: Step, part: str) -> float:
    """Milliseconds of `services`, `database` or `broker`."""
    return sum(spent for name, spent in step.cpu_ms.items() if _part(name) == part)


def _part(name: str) -> str:
    if name == "broker":
        return name
    return "database" if name == "postgresql" or name.endswith("-db") else "services"


def _ratio(own: Sequence[Sample], other: Sequence[Sample]) -> float:
    return statistics.median(one.cpu_ms / two.cpu_ms for one, two in zip(own, other, strict=True))


def _note(step: Step, samples: Sequence[Sample]) -> str:
    shares = " + ".join(f"{part} {share(step, part):.1f}" for part in ("services", "database", "broker"))
    counts = ", ".join(f"{total(step, kind):.1f} {kind}" for kind in _COUNT_GOALS)
    idle = statistics.mean(sample.idle_ms for sample in samples)
    return (
        f"CPU in ms: {shares}, idle share of {idle:.1f} not included; {counts}, {step.published:.1f} published, "
        f"{step.log_bytes / 1000:.0f} kB of WAL"
    )


def _mean(steps: Sequence[Step]) -> Step:
    def of(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
        names = dict.fromkeys(name for value in values for name in value)
        return {name: round(statistics.mean(value.get(name, 0.0) for value in values), 3) for name in names}

    tables = {name: table for step in steps for name, table in step.tables.items()}
    written = of([{name: table.rows for name, table in step.tables.items()} for step in steps])
    changed = of([{name: table.changes for name, table in step.tables.items()} for step in steps])
    return Step(
        count=sum(step.count for step in steps),
        cpu_ms=of([step.cpu_ms for step in steps]),
        commits=of([step.commits for step in steps]),
        tables={name: replace(table, rows=written[name], changes=changed[name]) for name, table in tables.items()},
        messages=of([step.messages for step in steps]),
        log_bytes=statistics.mean(step.log_bytes for step in steps),
        published=statistics.mean(step.published for step in steps),
    )
