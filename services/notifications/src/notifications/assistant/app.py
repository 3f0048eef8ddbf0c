"""Composition of the assistant."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from common.process.runtime import Runtime
from common.web.provider_client import provider_client
from notifications.assistant.clients.built_in_assistant import BuiltIn
from notifications.assistant.clients.language_model import LanguageModel
from notifications.assistant.clients.marketplace import Marketplace
from notifications.assistant.use_cases.open_turn import TurnLimits
from notifications.assistant.use_cases.query_model import MonitoredModel
from notifications.assistant.use_cases.run_turn import Assistant
from notifications.clients.circuit_breaker import Circuit, CircuitLimits
from notifications.clients.outbound_addresses import origin_of
from notifications.settings import Settings

# Concurrent replies of one process, with their lookups.
ASSISTANT_CONNECTIONS_MAX: Final = 200


@asynccontextmanager
async def open_assistant(
    settings: Settings, runtime: Runtime, circuit_limits: CircuitLimits, seconds_max: int
) -> AsyncIterator[Assistant]:
    """Open the configured model, or the built-in one. Its own connections keep long replies from delaying messages."""
    async with (
        provider_client(timeout=seconds_max, connections_max=ASSISTANT_CONNECTIONS_MAX) as http,
        provider_client(
            timeout=seconds_max, connections_max=ASSISTANT_CONNECTIONS_MAX, tls=settings.inside_tls
        ) as own_services,
    ):
        model: LanguageModel | BuiltIn = BuiltIn()
        if settings.ai_base_url:
            model = LanguageModel(
                http,
                settings.ai_base_url,
                settings.ai_api_key,
                settings.ai_model,
                tokens={settings.ai_tokens_parameter: settings.ai_max_tokens},
                silence_seconds=settings.ai_silence_seconds,
            )
        # The time limit of a reply, and 30 seconds to save it.
        lifetime = timedelta(seconds=settings.ai_answer_seconds + 30)
        assistant = Assistant(
            runtime.database,
            runtime.clock,
            MonitoredModel(model, Circuit(runtime.clock, circuit_limits), runtime.database, runtime.clock),
            Marketplace(own_services, settings.orders_url or settings.base_url, settings.identity_address),
            origin_of(settings.base_url),
            settings.ai_answer_seconds,
            settings.assistant_ping_seconds,
            TurnLimits(settings.assistant_at_once_max, lifetime, settings.ai_history_characters),
        )
        try:
            yield assistant
        finally:
            # Cancelled replies abandon their turns.
            for task in assistant.running:
                task.cancel()
            await asyncio.gather(*assistant.running, return_exceptions=True)
