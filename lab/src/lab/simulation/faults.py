"""The faults of a plan: calls to the gateway, processes and connections. `sentence: outcome` is a line of a report."""

from typing import Annotated, Literal, cast

from lab.simulation.run import Run
from lab.simulation.step import Pick, chosen, step
from lab.stepped.effects import Crash, Kind, Side
from lab.stepped.simulated_broker import Loss, SimulatedBus
from lab.stepped.simulated_gateway import Call, CallFault, CreationFault

ProcessName = Literal[
    "api-gateway",
    "orders-api",
    "orders-worker",
    "payments-api",
    "payments-worker",
    "payouts-api",
    "payouts-worker",
]


@step("the next call to the gateway has {fault}")
async def fail_call(run: Run, fault: CallFault) -> str:
    run.market.connection.faults.append(fault)
    return "ok"


@step("the next {call} has {fault}")
async def fail_call_of(run: Run, call: Call, fault: CallFault) -> str:
    run.market.connection.faults_by_call[call] = fault
    return "ok"


@step("the next call that creates a refund or a transfer has {fault}")
async def fail_creation(run: Run, fault: CreationFault) -> str:
    run.market.connection.creation_faults.append(fault)
    return "ok"


@step("a process dies and starts again")
async def kill(run: Run, pick: Pick) -> str:
    process = chosen(pick, list(run.market.processes.values()))
    process.die()
    await run.market.revive()
    return str(process.name)


@step("a process dies {side} effect {number} from now")
async def kill_at_effect(run: Run, number: Annotated[int, range(40)], side: Side) -> str:
    run.market.effects.start(Crash(number, side))
    return "ok"


@step("{process} dies {side} its next {kind}")
async def kill_at_kind(run: Run, process: ProcessName, side: Side, kind: Kind) -> str:
    run.market.effects.start(Crash(0, side), kinds=(kind,), process=process)
    return "ok"


@step("a process dies {side} effect {number} from now, and one {then_side} effect {then} of the recovery")
async def kill_twice(
    run: Run, number: Annotated[int, range(40)], side: Side, then: Annotated[int, range(20)], then_side: Side
) -> str:
    run.market.effects.start(Crash(number, side), Crash(then, then_side))
    return "ok"


@step("two processes die {side} effect {number} from now")
async def kill_two(run: Run, number: Annotated[int, range(40)], side: Side, pick: Pick) -> str:
    other = str(chosen(pick, list(run.market.processes)))
    run.market.effects.start(Crash(number, side, other))
    return other


@step("the broker's connection of a process ends at its next {loss}")
async def drop_connection(run: Run, pick: Pick, loss: Loss) -> str:
    process = chosen(pick, list(run.market.processes.values()))
    assert isinstance(process.bus, SimulatedBus)
    process.bus.losses.add(loss)
    return str(process.name)


@step("the broker's connection of each process ends at its next acknowledgement")
async def drop_acknowledgements(run: Run) -> str:
    for process in run.market.processes.values():
        cast("SimulatedBus", process.bus).losses.add("acknowledgement")
    return "ok"
