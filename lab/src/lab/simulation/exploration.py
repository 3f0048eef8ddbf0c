"""Seeds one after the other: their verdicts, and the shrunk run of each broken one."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from lab.simulation.marketplace import SimulatedMarketplace
from lab.simulation.plans import Plan, plan_of
from lab.simulation.shrinking import shrink
from lab.simulation.step import ABSENT, Step
from lab.simulation.verdicts import Verdict, run_plan

# One audit for so many seeds; after a finding each of them runs again with its own.
AUDITED_TOGETHER = 10
# Runs of one plan while it is shrunk.
TRIALS_MAX = 150
_REPORTED_EVERY = 10


@dataclass(frozen=True, slots=True)
class BrokenSeed:
    """A seed whose promise broke: the shortest plan that still breaks one, and its verdict."""

    seed: int
    plan: Sequence[Step]
    verdict: Verdict

    @property
    def text(self) -> str:
        """The run of the plan, what broke, and the command that runs the seed again."""
        return "\n".join(
            [
                f"SEED {self.seed}: {len(self.plan)} steps",
                *(f"  {line}" for line in self.verdict.lines),
                f"  The orders ended as {self.verdict.states}.",
                *(f"  BROKEN: {text}" for text in self.verdict.broken),
                f'  make simulate ARGS="--seed {self.seed}"',
            ]
        )


@dataclass(slots=True)
class Exploration:
    """The figures of a run."""

    seeds: int = 0
    steps: int = 0
    virtual_days: float = 0.0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    states: Counter[str] = field(default_factory=Counter)
    broken: list[BrokenSeed] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    """What broke once, or after several seeds, and in none of them again."""

    def add(self, other: "Exploration") -> None:
        """Add the figures of a further run."""
        self.seeds += other.seeds
        self.steps += other.steps
        self.virtual_days += other.virtual_days
        self.seconds += other.seconds
        self.processor_seconds += other.processor_seconds
        self.states += other.states
        self.broken += other.broken
        self.unexplained += other.unexplained

    @property
    def line(self) -> str:
        return (
            f"{self.seeds} seeds, {self.steps} steps, {self.virtual_days:.0f} virtual days, "
            f"{len(self.broken) + len(self.unexplained)} broken, "
            f"{self.seconds:.0f} s ({self.processor_seconds:.0f} s of CPU, "
            f"{self.seeds / max(self.seconds, 0.001):.1f} a second); "
            f"orders: {dict(sorted(self.states.items()))}"
        )


async def explore(market: SimulatedMarketplace, seeds: Sequence[int]) -> Exploration:
    """Run each seed, audit some together, and shrink the broken ones."""
    exploration, began, started = Exploration(), time.monotonic(), market.clock.now()
    used, known = time.process_time(), await market.findings()
    batch: list[int] = []
    for seed in seeds:
        plan = plan_of(seed, has_everyone=market.has_everyone)
        verdict = await run_plan(market, plan, audits=False)
        exploration.seeds += 1
        exploration.steps += len(plan)
        exploration.states.update(verdict.states.values())
        batch.append(seed)
        suspects = [] if verdict.holds else [seed]
        if len(batch) == AUDITED_TOGETHER or seed == seeds[-1] or suspects:
            new = await market.findings() - known
            audited, batch = batch, []
            known |= new
            suspects = suspects or (audited if new else [])
            broken = [broken for suspect in suspects if (broken := await examine(market, suspect))]
            exploration.broken += broken
            for one in broken:
                market.log(one.text)
            if suspects and not broken:
                texts = [*verdict.broken, *sorted(new)]
                exploration.unexplained.append(f"SEEDS {audited[0]} to {audited[-1]}, none of them again: {texts}")
                market.log(exploration.unexplained[-1])
            if suspects:
                known |= await market.findings()
        exploration.seconds, exploration.processor_seconds = time.monotonic() - began, time.process_time() - used
        exploration.virtual_days = (market.clock.now() - started).total_seconds() / 86_400
        if exploration.seeds % _REPORTED_EVERY == 0:
            market.log(exploration.line)
    return exploration


async def examine(market: SimulatedMarketplace, seed: int, *, trials_max: int = TRIALS_MAX) -> BrokenSeed | None:
    """Run a seed by itself; when it is broken, the shortest plan that is, found in so many runs."""
    plan: Plan = plan_of(seed, has_everyone=market.has_everyone)
    verdict = await run_plan(market, plan, audits=False)
    # An audit takes as long as a run: only a plan that breaks no promise without it needs it.
    audits = verdict.holds
    if audits:
        verdict = await run_plan(market, plan)
    if verdict.holds:
        return None
    market.log(f"seed {seed} is broken: {verdict.broken}")
    verdicts: dict[tuple[Step, ...], Verdict] = {plan: verdict}

    async def is_broken(candidate: Sequence[Step]) -> bool:
        if len(verdicts) > trials_max:
            return False
        verdicts[tuple(candidate)] = await run_plan(market, candidate, audits=audits)
        return not verdicts[tuple(candidate)].holds

    # Most steps had nothing to do: a plan without them usually breaks in the same way.
    effective = tuple(step for step, line in zip(plan, verdict.lines, strict=False) if not line.endswith(f": {ABSENT}"))
    start = effective if await is_broken(effective) else plan
    shortest = tuple(await shrink(start, is_broken))
    return BrokenSeed(seed, shortest, verdicts[shortest])
