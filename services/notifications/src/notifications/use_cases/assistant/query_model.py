"""Ask who answers for the assistant, unless it rests."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.circuit_breaker import Circuit
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from notifications.domain.conversations import Line, Spoken
from notifications.domain.errors import AssistantUnavailable

RUNBOOK: Final = "assistant-unavailable"
ALERT_KEY: Final = "assistant-unavailable"

OnToken = Callable[[str], Awaitable[None]]


class Model(Protocol):
    """Who answers: a company's language model, or what is built in."""

    @property
    def provider(self) -> str: ...

    async def speak(
        self, instructions: str, lines: Sequence[Line], tools: Sequence[Mapping[str, Any]], hear: OnToken
    ) -> Spoken: ...


@dataclass(slots=True)
class Watched:
    """A model and how it has done of late. `is_away`: this process has told the people on call, and not yet that it is over."""

    model: Model
    circuit: Circuit
    database: Database
    clock: Clock
    is_unavailable: bool = False


async def query_model(
    watched: Watched, instructions: str, lines: Sequence[Line], tools: Sequence[Mapping[str, Any]], hear: OnToken
) -> Spoken:
    """What the model says. One that failed again and again is left alone for a while, and an alert tells of it.

    Raises AssistantAway. What a question alone can bring about (no answer found, too long) is no failure of the provider:
    nobody can silence it for the others.
    """
    rests_until = watched.circuit.admit()
    if rests_until is not None:
        seconds = max(1, round((rests_until - watched.clock.now()).total_seconds()))
        raise AssistantUnavailable("the provider rests", retry_after_seconds=seconds)
    try:
        spoken = await watched.model.speak(instructions, lines, tools, hear)
    except AssistantUnavailable as away:
        if not away.is_outage:
            await _is_back(watched)
        elif watched.circuit.failed():
            watched.is_unavailable = True
            await _raise_alert(watched, away.reason)
        raise
    await _is_back(watched)
    return spoken


async def _is_back(watched: Watched) -> None:
    watched.circuit.succeeded()
    if not watched.is_unavailable:
        return
    watched.is_unavailable = False
    async with watched.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.publish(
            AlertCleared(alert_id=new_id(), dedup_key=ALERT_KEY, reason="the provider answers again"),
            source="notifications",
        )


async def _raise_alert(watched: Watched, reason: str) -> None:
    async with watched.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.publish(
            AlertRaised(
                alert_id=new_id(),
                severity="SEV-3",
                title="The assistant's provider does not answer",
                detail=f"Messages to the assistant are answered 503; it is asked again after a while. The last failure: {reason}",
                runbook=RUNBOOK,
                dedup_key=ALERT_KEY,
                about="assistant",
            ),
            source="notifications",
        )
