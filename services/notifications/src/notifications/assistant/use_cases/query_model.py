"""Query the assistant's model through a circuit breaker."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.json_records import JsonObject
from notifications.assistant.domain.conversations import ChatMessage, Completion, Provider
from notifications.assistant.domain.errors import AssistantUnavailable
from notifications.assistant.use_cases.alerts import alert_model_unavailable, clear_model_unavailable
from notifications.clients.circuit_breaker import Circuit

OnText = Callable[[str], Awaitable[None]]


class Model(Protocol):
    """A language model of a provider, or the built-in assistant."""

    @property
    def provider(self) -> Provider: ...

    async def complete(
        self,
        instructions: str,
        messages: Sequence[ChatMessage],
        tools: Sequence[JsonObject],
        on_text: OnText,
    ) -> Completion: ...


@dataclass(slots=True)
class MonitoredModel:
    """A model and its circuit breaker. `is_alerted`: this process has raised an alert that is still open."""

    model: Model
    circuit: Circuit
    database: Database
    clock: Clock
    is_alerted: bool = False


async def query_model(
    monitored: MonitoredModel,
    instructions: str,
    messages: Sequence[ChatMessage],
    tools: Sequence[JsonObject],
    on_text: OnText,
) -> Completion:
    """Return the model's completion. After repeated failures the model is paused and an alert is raised.

    Raises AssistantUnavailable. Failures that a single question can cause (no reply, too long) do not count: no user
    can pause the assistant for others.
    """
    paused_until = monitored.circuit.admit()
    if paused_until is not None:
        seconds = max(1, round((paused_until - monitored.clock.now()).total_seconds()))
        raise AssistantUnavailable("the provider is paused", retry_after_seconds=seconds)
    try:
        completion = await monitored.model.complete(instructions, messages, tools, on_text)
    except AssistantUnavailable as error:
        if not error.is_outage:
            await _record_success(monitored)
        elif monitored.circuit.failed():
            monitored.is_alerted = True
            async with monitored.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                alert_model_unavailable(uow, error.reason)
        raise
    await _record_success(monitored)
    return completion


async def _record_success(monitored: MonitoredModel) -> None:
    monitored.circuit.succeeded()
    if monitored.is_alerted:
        monitored.is_alerted = False
        async with monitored.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            clear_model_unavailable(uow)
