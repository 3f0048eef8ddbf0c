"""Faults: calls to the gateway, processes and connections."""

from dataclasses import dataclass
from typing import Annotated

from lab.simulation.steps.step import Pick, Step, chosen
from lab.simulation.story import Story
from lab.stepped.effects import Crash, Side
from lab.stepped.simulated_broker import Loss, SimulatedBus
from lab.stepped.simulated_gateway import CallFault


@dataclass(frozen=True, slots=True)
class FailCall(Step):
    text = "the next call to the gateway has {fault}"
    fault: CallFault

    async def run(self, story: Story) -> str:
        story.market.connection.faults.append(self.fault)
        return "ok"


@dataclass(frozen=True, slots=True)
class Kill(Step):
    text = "a process dies and starts again"
    pick: Pick

    async def run(self, story: Story) -> str:
        process = chosen(self.pick, list(story.market.processes.values()))
        process.die()
        await story.market.revive()
        return str(process.name)


@dataclass(frozen=True, slots=True)
class KillAtEffect(Step):
    text = "a process dies {side} effect {number} from now"
    number: Annotated[int, range(40)]
    side: Side

    async def run(self, story: Story) -> str:
        story.market.effects.start(Crash(self.number, self.side))
        return "ok"


@dataclass(frozen=True, slots=True)
class DropConnection(Step):
    text = "the broker's connection of a process ends at its next {loss}"
    pick: Pick
    loss: Loss

    async def run(self, story: Story) -> str:
        process = chosen(self.pick, list(story.market.processes.values()))
        bus = process.bus
        assert isinstance(bus, SimulatedBus)
        bus.losses.add(self.loss)
        return str(process.name)
