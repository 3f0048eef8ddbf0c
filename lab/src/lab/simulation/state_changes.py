"""Changes of state in the databases of a simulation, compared with the lifecycles that decide them."""

from collections.abc import Mapping
from typing import Any, Final, Self

import asyncpg

from campus_tools.documents.lifecycles import LIFECYCLES
from common.primitives.lifecycles import Lifecycle
from testkit.state_changes import StateChanges, coverage

# A transfer's row has the gateway's last response, also one that contradicts an earlier response (decision 114).
_OF_RESPONSES: Final = "payouts.payout_transfers"


class MarketStateChanges:
    """The changes of state since the start of a simulation, in the databases of all its services."""

    def __init__(self, by_service: Mapping[str, StateChanges]) -> None:
        self._by_service = by_service

    @classmethod
    async def recorded(cls, databases: Mapping[str, asyncpg.Connection]) -> Self:
        """Record the changes of all lifecycles of these services from now on."""
        governed: dict[str, dict[str, Lifecycle[Any, Any]]] = {service: {} for service in databases}
        for lifecycle, tables in LIFECYCLES.items():
            for name in tables:
                service, _, table = name.partition(".")
                if service in databases and name != _OF_RESPONSES:
                    governed[service][table] = lifecycle
        return cls({name: await StateChanges.recorded(databases[name], tables) for name, tables in governed.items()})

    async def forbidden(self) -> list[str]:
        """Return the changes since the last call that no rule allows."""
        return [f"{name}: {text}" for name, one in self._by_service.items() for text in await one.forbidden()]

    @property
    def line(self) -> str:
        """The number of walked changes of each lifecycle."""
        walked = {
            lifecycle: set().union(*(one.walked.get(lifecycle, set()) for one in self._by_service.values()))
            for lifecycle in LIFECYCLES
        }
        shown = (coverage(lifecycle, changes) for lifecycle, changes in walked.items() if changes)
        return f"changes of state: {', '.join(shown)}"
